#include "config/option.h"

namespace gpusight::config {
namespace {

template <typename Field, typename Key>
const OptionRow* find_by(Field OptionRow::*field, const Key& key) {
  const auto row = std::ranges::find(kOptions, key, field);
  return row == std::end(kOptions) ? nullptr : &*row;
}

}  // namespace

std::string address_text(const Address& address) {
  const bool is_v6 = address.host.find(':') != std::string::npos;
  return (is_v6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

const OptionRow* find_option_by_flag(std::string_view flag) {
  return flag.empty() ? nullptr : find_by(&OptionRow::flag, flag);
}

const OptionRow* find_option_by_letter(char letter) {
  return letter == 0 ? nullptr : find_by(&OptionRow::letter, letter);
}

const OptionRow* find_option_by_key(std::string_view key) {
  return key.empty() ? nullptr : find_by(&OptionRow::key, key);
}

}  // namespace gpusight::config
