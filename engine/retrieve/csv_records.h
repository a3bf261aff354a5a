// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::retrieve {

using CsvRecord = std::vector<std::string>;

/// Reads RFC 4180: fields between commas, records between line ends (CR LF, or LF alone), fields in double
/// quotes with "" for a quote. Records may differ in their number of fields; a line without anything is no
/// record. An error is a quote where none may stand, a quoted field without an end, or more than `maxRecords`
/// records; its place is the line.
std::variant<std::vector<CsvRecord>, Error> readCsv(std::string_view text, std::size_t maxRecords);

}  // namespace spanscope::retrieve
