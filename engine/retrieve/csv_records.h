// SPDX-License-Identifier: GPL-3.0-or-later
// Reads CSV files into records. Open this file when a CSV file is split wrongly.
#pragma once

#include "engine/base/error.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::retrieve {

using CsvRecord = std::vector<std::string>;

/// Reads records of fields (RFC 4180). Line ends (CR LF, or only LF) separate records. Rules:
/// - A comma, a semicolon or a tab separates fields. It is the one that splits the first records equally, or
///   else the comma.
/// - A field may be in double quotes, with "" for a quote. In a field without quotes, a quote is an ordinary
///   character.
/// - Records may have different numbers of fields. An empty line is no record.
///
/// Errors have the line as their place. These are errors:
/// - text after a quoted field;
/// - a quoted field without an end;
/// - more than `maxRecords` records.
std::variant<std::vector<CsvRecord>, Error> readCsv(std::string_view text, std::size_t maxRecords);

}  // namespace spanscope::retrieve
