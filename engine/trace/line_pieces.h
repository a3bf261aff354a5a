// SPDX-License-Identifier: GPL-3.0-or-later
// Words for an event: the untranslated text for the user, and the line of an event listing. Open this file to
// add a kind of value, or to change the listing.
#pragma once

#include "engine/base/counted.h"
#include "engine/base/ids.h"
#include "engine/trace/event.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::trace {

/// Returns "0.025", with `digits` digits after the point.
std::string fixedPoint(double value, int digits);
/// Returns a share, 0 … 1, in percent without the percent sign: "84", "<1", ">99". With 1 digit: "84.3",
/// "<0.1", ">99.9". "0" means exactly 0, and "100" means exactly 1.
std::string shareNumber(double share, int digits = 0);

/// Returns the beginning of a text, with control characters and line ends escaped. A trace therefore cannot
/// control the terminal.
std::string escaped(std::string_view text);
/// Returns a shorter beginning in quotation marks, with "…" at the end of a truncated text.
std::string inQuotes(std::string_view text);

/// Returns "segment 2, block 1".
std::string placeText(std::uint32_t segment, std::int32_t virtualIndex);
/// Returns "physical block 7".
std::string physicalText(BlockId block);
/// Returns the first eight digits of a key.
std::string keyText(const BlockKey& key);
/// Returns "20480 bytes" or "3 MiB".
std::string bytesText(std::uint64_t bytes);
/// Returns "the disk".
std::string tierText(StoreTier tier);
/// Returns "3 blocks of 16 tokens, 2 free".
std::string poolText(const PoolState& pool);
/// Returns "3, 4, 7".
std::string requestsText(const std::vector<RequestId>& requests);

/// Returns "segment 3, block 1, 16 rows": the query rows of an event on attention.
template <class Rows>
std::string queryText(const Rows& rows) {
  return placeText(rows.segment, rows.virtualIndex) +
         (rows.row >= 0 ? ", row " + std::to_string(rows.row) : ", " + counted(rows.rows, "row"));
}

/// A text of any length. A line shows only its beginning.
struct ShortText {
  std::string text;
  bool operator==(const ShortText&) const = default;
};

/// A step of the event's run. The view chooses its name.
struct StepName {
  StepIndex step = 0;
  bool operator==(const StepName&) const = default;
};

struct EventWords {
  using Value = std::variant<std::uint32_t, std::uint64_t, double, std::string, ShortText, StepName>;

  const char* text = "";      ///< marked by forTranslation("Events", …), with %1, %2, … in it
  std::vector<Value> values;  ///< the values of %1, %2, … in this order
  bool operator==(const EventWords&) const = default;
};

}  // namespace spanscope::trace
