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

/// Reads records of fields (RFC 4180): records between line ends (CR LF, or only LF), fields in double quotes
/// with "" for a quote. Between fields is a comma, a semicolon or a tab: the one that divides the first
/// records equally, else the comma. A quote within a field without quotes is a character like others. Records
/// may have different numbers of fields. An empty line is no record. It is an error if there is text after a
/// quoted field, if a quoted field has no end, or if there are more than `maxRecords` records. The place of
/// the error is the line.
std::variant<std::vector<CsvRecord>, Error> readCsv(std::string_view text, std::size_t maxRecords);

}  // namespace spanscope::retrieve
