#include "attribute/masked_arguments.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"

namespace gpusight::attribute {
namespace {

// '|' stands for the NUL after an argument.
std::string shown(std::string text) {
  std::ranges::replace(text, '|', '\0');
  return masked_arguments(text);
}

TEST(MaskedArguments, AreJoinedBySpaces) {
  EXPECT_EQ(shown("python|train.py|--epochs|3|"), "python train.py --epochs 3");
  EXPECT_EQ(shown(""), "");
  EXPECT_EQ(shown("||"), "");
  EXPECT_EQ(shown("a||b|"), "a  b");
}

TEST(MaskedArguments, WhatANameCallsASecretIsNotShown) {
  const struct {
    std::string line;
    std::string shown;
  } cases[] = {
      {"x|--password|hunter2|y|", "x --password *** y"},
      {"x|--password|my secret words|y|", "x --password *** y"},
      {"x|--password=my secret words|y|", "x --password=*** y"},
      {"x|--api-key=abc|", "x --api-key=***"},
      {"x|--api_key|abc|", "x --api_key ***"},
      {"env|WANDB_API_KEY=abc|HF_TOKEN=abc|x|", "env WANDB_API_KEY=*** HF_TOKEN=*** x"},
      {"env|PGPASSWORD=a b|psql|", "env PGPASSWORD=*** psql"},
      {"x|-token|abc|", "x -token ***"},
      {"x|--clientSecret|abc|", "x --clientSecret ***"},
      {"x|hub.token=abc|", "x hub.token=***"},
      {"x|http://h/p?user=u&token=abc&z=1|", "x http://h/p?user=u&token=***&z=1"},
      {"x|postgres://ada:hunter2@db/x|", "x postgres://***@db/x"},
      {"x|--url=https://abc@h/p|", "x --url=https://***@h/p"},
      {"x|https://a:p@ss@h/p|", "x https://***@h/p"},
      {"curl|-H|Authorization: Bearer abc|h|", "curl -H Authorization:*** h"},
      {"curl|-H|X-Api-Key: abc|h|", "curl -H X-Api-Key:*** h"},
      {"x|hf_0123456789abcdefgh|", "x ***"},
      {"x|--hub=hf_0123456789abcdefgh|", "x --hub=***"},
      // As programs that set their own title write it: one argument.
      {"x --password hunter2 --token=abc y|", "x --password *** --token=*** y"},
      {"sh|-c|a=1 PASSWORD='a b' run|", "sh -c a=1 PASSWORD=*** run"},
      {"sh|-c|a=1 PASSWORD=\"a b\" run|", "sh -c a=1 PASSWORD=*** run"},
      {"sh|-c|a=1 PASSWORD='a b|", "sh -c a=1 PASSWORD=***"},
      {"sh|-c|run --password 'a b' y|", "sh -c run --password *** y"},
      {"x --password|hunter2|", "x --password ***"},
  };
  for (const auto& c : cases) EXPECT_EQ(shown(c.line), c.shown) << c.line;
}

TEST(MaskedArguments, OrdinaryArgumentsStay) {
  for (const std::string line :
       {"x --max-tokens 4096", "x --tokenizer bert", "x --max_new_tokens=5", "x --keys 3",
        "x --password --verbose", "x http://h/p?q=1", "x user@host:/path", "x --author me",
        "x sk-1", "x model=hf_hub"}) {
    std::string cmdline = line;
    std::ranges::replace(cmdline, ' ', '|');
    EXPECT_EQ(shown(cmdline + "|"), line);
  }
}

// FAULT-130
TEST(MaskedArguments, AnyBytesAreText) {
  const std::string hostile = shown("\x1b[2J\xff\xfe|" + std::string(100000, 'x'));
  EXPECT_TRUE(is_valid_utf8(hostile));
  EXPECT_LE(hostile.size(), kMaxArgumentsBytes);
  EXPECT_EQ(hostile.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace gpusight::attribute
