// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace spanscope::cli {

/// Factor from seconds to the milliseconds of reports.
inline constexpr double kMilliseconds = 1000;

/// Rows of text in aligned columns, for a terminal.
class TextTable {
 public:
  enum class Align { Left, Right };
  struct Column {
    std::string title;
    Align align = Align::Right;
  };

  explicit TextTable(std::vector<Column> columns) : m_columns(std::move(columns)) {}

  /// Adds a row with one cell for each column, shown on one line. Missing cells are empty; surplus cells are
  /// left out.
  void addRow(std::vector<std::string> cells);
  /// The titles, if there are any, and all rows, each line indented by two blanks and ended by a newline.
  std::string text() const;

 private:
  std::vector<Column> m_columns;
  std::vector<std::vector<std::string>> m_rows;
};

/// A number with `digits` digits after the point.
std::string fixed(double value, int digits);
/// The number of characters, not bytes, of a text in UTF-8.
std::size_t characterCount(std::string_view text);
/// 1234567 as "1.23 M", for counts and rates. The units are powers of 1000.
std::string shortNumber(double value);

/// What a command writes for --json, without a line end. Names and messages can hold bytes of files: those
/// that are not UTF-8 become U+FFFD, so that one bad name hides nothing else.
template <typename Json>
std::string jsonText(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace spanscope::cli
