// Errors are values: Status is success or a code with a message, Result<T> is a T or such a Status.
//
// Messages are for people: lower case, naming the thing, what was found and what was wanted.
// Thread-safe as any plain value. TRY(expr) unwraps or returns the failure to the caller.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/check.h"

namespace gpusight {

enum class Code {
  kOk,
  kInvalidArgument,   // the caller's input is wrong
  kNotFound,          // the thing named is not there
  kPermissionDenied,  // it is there, we may not
  kUnavailable,       // the environment cannot now; it may later
  kUnsupported,       // it never will here
  kCancelled,         // the caller asked to stop
  kExhausted,         // a stated limit was reached
  kCorrupt,           // data does not parse
  kIo,                // the operating system said no for another reason
};

class [[nodiscard]] Status {
 public:
  Status() = default;  // success
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }
  const Status& status() const { return *this; }
  void value() const {}

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT: implicit on purpose
  Result(Status status) : status_(std::move(status)) {  // NOLINT: implicit on purpose
    CHECK(!status_.ok(), "a Result without a value needs an error");
  }

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& value() & {
    CHECK(ok(), status_.message());
    return *value_;
  }
  const T& value() const& {
    CHECK(ok(), status_.message());
    return *value_;
  }
  T&& value() && {
    CHECK(ok(), status_.message());
    return std::move(*value_);
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace gpusight

// `auto x = TRY(f());` continues with the value, or returns f's Status from the enclosing function.
// (A GNU statement expression: both supported compilers have it.)
#define TRY(expr)                                           \
  ({                                                        \
    auto gpusight_try_ = (expr);                            \
    if (!gpusight_try_.ok()) return gpusight_try_.status(); \
    std::move(gpusight_try_).value();                       \
  })
