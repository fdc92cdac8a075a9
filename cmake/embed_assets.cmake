# cmake -DDIST=DIR -DOUT=PREFIX -DGZIP=… -DBROTLI=… -P embed_assets.cmake
#
# Writes PREFIX.S, which takes in the files below DIR three times (as they are, by gzip, by brotli),
# and PREFIX.cc, the table of them. Equal files give equal bytes: no times go in.
set(rows "")
set(declarations "")
set(assembly ".section .rodata\n")
set(count 0)
if(DIST)
  file(GLOB_RECURSE files LIST_DIRECTORIES false RELATIVE ${DIST} ${DIST}/*)
  list(SORT files)
  file(REMOVE_RECURSE ${OUT})
  file(MAKE_DIRECTORY ${OUT})
  foreach(file IN LISTS files)
    if(file MATCHES "\\.map$")
      continue()
    endif()
    set(base ${OUT}/${count})
    execute_process(COMMAND ${GZIP} -9nc ${DIST}/${file} OUTPUT_FILE ${base}.gzip
      COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${BROTLI} -q 11 -c ${DIST}/${file} OUTPUT_FILE ${base}.brotli
      COMMAND_ERROR_IS_FATAL ANY)
    file(COPY_FILE ${DIST}/${file} ${base}.plain)
    file(SHA256 ${base}.plain hash)
    string(SUBSTRING ${hash} 0 16 tag)
    set(views "")
    foreach(form plain gzip brotli)
      set(symbol gpusight_asset_${count}_${form})
      string(APPEND assembly ".balign 16\n.global ${symbol}\n${symbol}: .incbin \"${base}.${form}\"\n"
        ".global ${symbol}_end\n${symbol}_end:\n")
      string(APPEND declarations "extern const char ${symbol}[], ${symbol}_end[];\n")
      string(APPEND views ", between(${symbol}, ${symbol}_end)")
    endforeach()
    string(APPEND rows "      {\"/${file}\", \"\\\"${tag}\\\"\"${views}},\n")
    math(EXPR count "${count} + 1")
  endforeach()
endif()
string(APPEND assembly ".section .note.GNU-stack,\"\",@progbits\n")
file(WRITE ${OUT}.S "${assembly}")
if(count EQUAL 0)
  file(WRITE ${OUT}.cc "#include \"serve/assets.h\"
namespace gpusight::serve {
std::span<const Asset> web_assets() { return {}; }
}  // namespace gpusight::serve
")
else()
  file(WRITE ${OUT}.cc "#include \"serve/assets.h\"
extern \"C\" {
${declarations}}
namespace gpusight::serve {
namespace {
std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}
}  // namespace
std::span<const Asset> web_assets() {
  static const Asset kAssets[] = {
${rows}  };
  return kAssets;
}
}  // namespace gpusight::serve
")
endif()
