#include "platform/dynamic_library.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace gpusight::platform {
namespace {

class DynamicLibraryTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  void write(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }
  static std::string elf(uint8_t elf_class, uint16_t machine) {
    Elf64_Ehdr header{};
    std::copy_n(ELFMAG, SELFMAG, header.e_ident);
    header.e_ident[EI_CLASS] = elf_class;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_machine = machine;
    return {reinterpret_cast<const char*>(&header), sizeof header};
  }
  std::string path_ = testing::TempDir() + "library." + std::to_string(::getpid()) + ".so";
};

TEST_F(DynamicLibraryTest, TellsMissingForeignAndBrokenApart) {
  EXPECT_EQ(DynamicLibrary::open(path_).status().code(), Code::kNotFound);
  EXPECT_EQ(DynamicLibrary::open("libgpusight-nowhere.so.1").status().code(), Code::kNotFound);
  write(elf(ELFCLASS64, EM_S390));
  EXPECT_EQ(DynamicLibrary::open(path_).status().code(), Code::kUnsupported);
  write(elf(ELFCLASS32, EM_386));
  EXPECT_EQ(DynamicLibrary::open(path_).status().code(), Code::kUnsupported);
  EXPECT_EQ(DynamicLibrary::open(path_).status().message(), "x86 (32 bit)");
  write("#!/bin/sh\n");
  EXPECT_EQ(DynamicLibrary::open(path_).status().code(), Code::kIo);
  EXPECT_EQ(DynamicLibrary::open(path_).status().message(), "not a shared library");
  write("");
  EXPECT_EQ(DynamicLibrary::open(path_).status().code(), Code::kIo);
  EXPECT_EQ(DynamicLibrary::open("/").status().code(), Code::kIo);
}

TEST_F(DynamicLibraryTest, ATruncatedLibraryOfOursIsBrokenNotForeign) {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string header(sizeof(Elf64_Ehdr), '\0');
  self.read(header.data(), static_cast<std::streamsize>(header.size()));
  EXPECT_EQ(foreign_architecture(header), "");
  write(header);
  EXPECT_EQ(DynamicLibrary::open(path_).status().code(), Code::kIo);
}

TEST_F(DynamicLibraryTest, AnAbsentSymbolIsNullNotAFailure) {
  const auto library = DynamicLibrary::open("libm.so.6");
  ASSERT_TRUE(library.ok()) << library.status().message();
  EXPECT_NE(library->symbol("cos"), nullptr);
  EXPECT_EQ(library->symbol("nvmlInit_v2"), nullptr);
  EXPECT_TRUE(library->path().starts_with("/")) << library->path();
}

// FAULT-134
TEST(LibraryTrust, RootLoadsOnlyWhatNobodyElseCanWrite) {
  EXPECT_TRUE(may_load(0, {.owner = 0, .mode = 0755}));
  EXPECT_FALSE(may_load(0, {.owner = 1000, .mode = 0755}));
  EXPECT_FALSE(may_load(0, {.owner = 0, .mode = 0775}));
  EXPECT_FALSE(may_load(0, {.owner = 0, .mode = 0757}));
  EXPECT_TRUE(may_load(1000, {.owner = 1000, .mode = 0777}));
}

}  // namespace
}  // namespace gpusight::platform
