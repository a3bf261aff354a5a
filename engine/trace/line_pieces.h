// SPDX-License-Identifier: GPL-3.0-or-later
// Pieces of the lines in which events are listed.
#pragma once

#include "engine/base/counted.h"
#include "engine/trace/event.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::trace {

/// "0.025": so many digits behind the point.
std::string fixedPoint(double value, int digits);
/// A share, 0 … 1, in percent without the sign: "84", "<1", ">99"; with 1 digit "84.3", "<0.1", ">99.9".
/// Only nothing is "0", and only the whole is "100".
std::string shareNumber(double share, int digits = 0);

/// The beginning of a text, with control characters and line ends escaped, so that a trace cannot drive the
/// terminal that shows it.
std::string escaped(std::string_view text);
/// The same in quotation marks, cut sooner, with "…" where it was cut.
std::string inQuotes(std::string_view text);

/// "segment 2, block 1"
std::string placeText(std::uint32_t segment, std::int32_t virtualIndex);
/// "physical block 7"
std::string physicalText(BlockId block);
/// The first eight digits of a key.
std::string keyText(const BlockKey& key);
/// "20480 bytes", "3 MiB"
std::string bytesText(std::uint64_t bytes);
/// "the disk"
std::string tierText(StoreTier tier);
/// "3 blocks of 16 tokens, 2 free"
std::string poolText(const PoolState& pool);
/// "3, 4, 7"
std::string requestsText(const std::vector<RequestId>& requests);

/// "segment 3, block 1, 16 rows": the query rows of an event on attention.
template <class Rows>
std::string queryText(const Rows& rows) {
  return placeText(rows.segment, rows.virtualIndex) +
         (rows.row >= 0 ? ", row " + std::to_string(rows.row) : ", " + counted(rows.rows, "row"));
}

}  // namespace spanscope::trace
