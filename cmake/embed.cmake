# gpusight_embed_web(TARGET)
#
# Puts the page into TARGET: every file below web's dist as it is, by gzip and by brotli, with its
# entity tag, as serve/assets.h declares. Where dist comes from:
#   GPUSIGHT_WEB_DIST=DIR   a page that was built before; nothing is built here
#   GPUSIGHT_WEB=ON         npm builds web/ as part of this build
#   GPUSIGHT_WEB=OFF        no page; the server says so
set(GPUSIGHT_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_assets.cmake)

# npm ci, then npm run build; `stamp` names the file that says when.
function(gpusight_build_web dist stamp_variable)
  set(web ${PROJECT_SOURCE_DIR}/web)
  find_program(GPUSIGHT_NPM npm)
  if(NOT GPUSIGHT_NPM)
    message(FATAL_ERROR "npm is needed to build the page: install it (package npm), or configure "
      "with -DGPUSIGHT_WEB_DIST=DIR for a page built elsewhere, or with -DGPUSIGHT_WEB=OFF")
  endif()
  set(installed ${web}/node_modules/.package-lock.json)
  set(stamp ${CMAKE_CURRENT_BINARY_DIR}/web_dist.stamp)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${web}/src/* ${web}/public/* ${web}/tools/*)
  file(GLOB settings CONFIGURE_DEPENDS ${web}/*.html ${web}/*.json ${web}/*.ts ${web}/*.mjs)
  add_custom_command(OUTPUT ${installed}
    COMMAND ${GPUSIGHT_NPM} ci --no-audit --no-fund --loglevel=error
    COMMAND ${CMAKE_COMMAND} -E touch ${installed}
    DEPENDS ${web}/package.json ${web}/package-lock.json
    WORKING_DIRECTORY ${web} COMMENT "Installing what the page is built with" VERBATIM)
  add_custom_command(OUTPUT ${stamp}
    COMMAND ${GPUSIGHT_NPM} run --silent build -- --outDir ${dist} --emptyOutDir --logLevel warn
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${installed} ${sources} ${settings}
    WORKING_DIRECTORY ${web} COMMENT "Building the page" VERBATIM)
  set(${stamp_variable} ${stamp} PARENT_SCOPE)
endfunction()

function(gpusight_embed_web target)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/web_assets)
  set(depends ${GPUSIGHT_EMBED_SCRIPT})
  set(tools "")
  if(GPUSIGHT_WEB_DIST)
    set(dist ${GPUSIGHT_WEB_DIST})
    if(NOT EXISTS ${dist}/index.html)
      message(FATAL_ERROR "GPUSIGHT_WEB_DIST: there is no page (index.html) in ${dist}")
    endif()
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${dist}/*)
    list(APPEND depends ${files})
  elseif(GPUSIGHT_WEB AND EXISTS ${PROJECT_SOURCE_DIR}/web/package.json)
    set(dist ${CMAKE_CURRENT_BINARY_DIR}/web_dist)
    gpusight_build_web(${dist} stamp)
    list(APPEND depends ${stamp})
  else()
    set(dist "")
  endif()
  if(dist)
    find_program(GPUSIGHT_GZIP gzip REQUIRED)
    find_program(GPUSIGHT_BROTLI brotli REQUIRED)
    set(tools -DGZIP=${GPUSIGHT_GZIP} -DBROTLI=${GPUSIGHT_BROTLI})
  endif()
  add_custom_command(OUTPUT ${out}.cc ${out}.S
    COMMAND ${CMAKE_COMMAND} -DDIST=${dist} -DOUT=${out} ${tools} -P ${GPUSIGHT_EMBED_SCRIPT}
    DEPENDS ${depends} COMMENT "Packing the page" VERBATIM)
  target_sources(${target} PRIVATE ${out}.cc ${out}.S)
endfunction()
