#include <algorithm>

#include "store/chunk_codec.h"
#include "store/column_format.h"
#include "store/number_codec.h"

namespace gpusight::store {
namespace {

using column_format::Lean;

Status corrupt(const char* what) {
  return {Code::kCorrupt, std::string("packed history column: ") + what};
}

struct Head {
  uint8_t flags = 0;
  size_t rows = 0;
  std::optional<Lean> lean;
};

// Takes the head off `bytes`.
Result<Head> read_head(std::span<const uint8_t>& bytes) {
  if (bytes.size() < 2) return corrupt("no head");
  if (bytes[0] == 0) return corrupt("version 0");
  if (bytes[0] > column_format::kVersion) {
    return Status(Code::kUnsupported, "recorded history was written by a newer gpusight");
  }
  Head head{.flags = bytes[1]};
  const bool is_sound = (head.flags & ~column_format::kKnownFlags) == 0;
  const bool leans = (head.flags & column_format::kLeans) != 0;
  constexpr uint8_t kNotWhenLeaning =
      column_format::kDoubles | column_format::kDecimals | column_format::kHasStates;
  if (!is_sound || (leans && (head.flags & kNotWhenLeaning) != 0)) return corrupt("its flags");
  ByteReader reader(bytes.subspan(2));
  uint64_t rows = 0;
  if (!reader.read(rows) || rows == 0 || rows > kMaxChunkRows) return corrupt("number of rows");
  head.rows = rows;
  if (leans) {
    uint64_t id = 0;
    uint64_t factor = 0;
    if (!reader.read(id) || id > UINT32_MAX || !reader.read(factor)) return corrupt("its lean");
    head.lean = Lean{.id = static_cast<uint32_t>(id),
                     .factor = unzigzag(factor),
                     .is_sum = (head.flags & column_format::kLeansOnSum) != 0};
  }
  bytes = reader.rest();
  return head;
}

Status check_sum(std::span<const uint8_t>& bytes) {
  if (bytes.size() < column_format::kChecksumBytes) return corrupt("no checksum");
  const auto rest = bytes.first(bytes.size() - column_format::kChecksumBytes);
  uint32_t sum = 0;
  for (size_t k = 0; k < column_format::kChecksumBytes; ++k) {
    sum |= uint32_t{bytes[rest.size() + k]} << (8 * k);
  }
  if (sum != column_format::checksum(rest)) return corrupt("its checksum is wrong");
  bytes = rest;
  return {};
}

// Numbers without gaps moved to the rows that have one.
void spread(std::span<const CellState> states, std::vector<int64_t>& numbers, size_t values) {
  numbers.resize(states.size());
  size_t from = values;
  const int64_t first = values > 0 ? numbers[0] : 0;
  for (size_t row = states.size(); row-- > 0;) {
    if (states[row] == kStateValue) {
      numbers[row] = numbers[--from];
    } else {
      numbers[row] = from > 0 ? numbers[from - 1] : first;
    }
  }
}

}  // namespace

model::Reason reason_of(CellState state) {
  const size_t number = static_cast<size_t>(state) - kStateAbsent;
  return number < model::kReasonCount ? static_cast<model::Reason>(number)
                                      : model::Reason::kUnknown;
}

Result<std::optional<uint32_t>> leans_on(std::span<const uint8_t> bytes) {
  const Head head = TRY(read_head(bytes));
  return head.lean ? std::optional(head.lean->id) : std::nullopt;
}

class ChunkDecoder::Impl {
 public:
  Status unpack_times(std::span<const uint8_t> bytes, std::vector<int64_t>& times_ms);
  Status unpack_column(std::span<const uint8_t> bytes, size_t rows, const Fetch& fetch,
                       ChunkColumn& out);

 private:
  Status unpack_alone(std::span<const uint8_t> bytes, const Head& head, ChunkColumn& out,
                      size_t& values);
  Status unpack_leaning(std::span<const uint8_t> bytes, const Head& head, const Fetch& fetch,
                        ChunkColumn& out, size_t& values);

  NumberDecoder numbers_;
  ChunkColumn other_;
  std::vector<int64_t> states_;
};

ChunkDecoder::ChunkDecoder() : impl_(std::make_unique<Impl>()) {}
ChunkDecoder::~ChunkDecoder() = default;
Status ChunkDecoder::unpack_times(std::span<const uint8_t> bytes, std::vector<int64_t>& times_ms) {
  return impl_->unpack_times(bytes, times_ms);
}
Status ChunkDecoder::unpack_column(std::span<const uint8_t> bytes, size_t rows, const Fetch& fetch,
                                   ChunkColumn& out) {
  return impl_->unpack_column(bytes, rows, fetch, out);
}

Status ChunkDecoder::Impl::unpack_times(std::span<const uint8_t> bytes,
                                        std::vector<int64_t>& times_ms) {
  TRY(check_sum(bytes));
  const Head head = TRY(read_head(bytes));
  if (head.flags != 0) return corrupt("times that are none");
  times_ms.resize(head.rows);
  TRY(numbers_.read(bytes, times_ms));
  if (!bytes.empty()) return corrupt("goes on after its end");
  if (std::ranges::adjacent_find(times_ms, std::greater_equal()) != times_ms.end()) {
    return corrupt("times that do not ascend");
  }
  return {};
}

Status ChunkDecoder::Impl::unpack_column(std::span<const uint8_t> bytes, size_t rows,
                                         const Fetch& fetch, ChunkColumn& out) {
  TRY(check_sum(bytes));
  const Head head = TRY(read_head(bytes));
  if (head.rows != rows) return corrupt("other rows than its chunk has");
  size_t values = 0;
  TRY(head.lean ? unpack_leaning(bytes, head, fetch, out, values)
                : unpack_alone(bytes, head, out, values));
  if (!out.states.empty()) spread(out.states, out.numbers, values);
  return {};
}

// Leaves the numbers of the rows that have one at the front of out.numbers.
Status ChunkDecoder::Impl::unpack_alone(std::span<const uint8_t> bytes, const Head& head,
                                        ChunkColumn& out, size_t& values) {
  const bool is_doubles = (head.flags & column_format::kDoubles) != 0;
  const bool is_decimals = (head.flags & column_format::kDecimals) != 0;
  if (is_decimals && !is_doubles) return corrupt("its flags");
  out.form = is_doubles ? ChunkColumn::Form::kDoubles : ChunkColumn::Form::kQuanta;
  out.states.clear();
  values = head.rows;
  if ((head.flags & column_format::kHasStates) != 0) {
    states_.resize(head.rows);
    TRY(numbers_.read(bytes, states_));
    values = 0;
    for (const int64_t state : states_) {
      if (state < 0 || state > UINT8_MAX || (state > kStateHeld && state < kStateAbsent)) {
        return corrupt("a state that there is not");
      }
      out.states.push_back(static_cast<CellState>(state));
      values += state == kStateValue;
    }
    if (values == head.rows) return corrupt("states without need");
  }
  size_t places = 0;
  if (is_decimals) {
    if (bytes.empty() || bytes[0] >= std::size(column_format::kPowersOfTen)) {
      return corrupt("its decimal point");
    }
    places = bytes[0];
    bytes = bytes.subspan(1);
  }
  out.numbers.resize(head.rows);
  const auto numbers = std::span(out.numbers).first(values);
  TRY(numbers_.read(bytes, numbers));
  if (!bytes.empty()) return corrupt("goes on after its end");
  if (is_decimals) {
    for (int64_t& number : numbers) number = column_format::from_decimal(number, places);
  } else if (is_doubles) {
    for (int64_t& number : numbers) number = column_format::ordered(number);
  }
  return {};
}

Status ChunkDecoder::Impl::unpack_leaning(std::span<const uint8_t> bytes, const Head& head,
                                          const Fetch& fetch, ChunkColumn& out, size_t& values) {
  auto other_bytes = TRY(fetch(head.lean->id));
  TRY(check_sum(other_bytes));
  const Head other = TRY(read_head(other_bytes));
  if (other.lean || other.rows != head.rows) return corrupt("leans on what it cannot");
  TRY(unpack_alone(other_bytes, other, other_, values));
  if (other_.form != ChunkColumn::Form::kQuanta) return corrupt("leans on what it cannot");
  out.form = ChunkColumn::Form::kQuanta;
  out.states = other_.states;
  out.numbers.resize(head.rows);
  const auto numbers = std::span(out.numbers).first(values);
  TRY(numbers_.read(bytes, numbers));
  if (!bytes.empty()) return corrupt("goes on after its end");
  column_format::Prediction prediction(*head.lean);
  for (size_t i = 0; i < values; ++i) {
    numbers[i] = static_cast<int64_t>(static_cast<uint64_t>(numbers[i]) +
                                      prediction.next(other_.numbers[i]));
  }
  return {};
}

}  // namespace gpusight::store
