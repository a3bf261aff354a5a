// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/text_table.h"

#include "engine/base/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace spanscope::cli {

void TextTable::addRow(std::vector<std::string> cells) {
  cells.resize(m_columns.size());
  for (std::string& cell : cells) cell = onOneLine(cell);
  m_rows.push_back(std::move(cells));
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < m_columns.size(); ++c) {
    std::size_t width = characterCount(m_columns[c].title);
    for (const auto& row : m_rows) width = std::max(width, characterCount(row[c]));
    widths.push_back(width);
  }
  std::string text;
  const auto addLine = [&](const auto& cellOf) {
    std::string line;
    for (std::size_t c = 0; c < m_columns.size(); ++c) {
      const std::string& cell = cellOf(c);
      const std::string blanks(widths[c] - characterCount(cell), ' ');
      line += "  ";
      line += m_columns[c].align == Align::Left ? cell + blanks : blanks + cell;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  };
  const bool titled = std::any_of(m_columns.begin(), m_columns.end(),
                                  [](const Column& column) { return !column.title.empty(); });
  if (titled) addLine([this](std::size_t c) -> const std::string& { return m_columns[c].title; });
  for (const auto& row : m_rows) addLine([&row](std::size_t c) -> const std::string& { return row[c]; });
  return text;
}

std::string fixed(double value, int digits) {
  return fmt::format("{:.{}f}", value, digits);
}

std::size_t characterCount(std::string_view text) {
  // Every byte but the continuation bytes 10xxxxxx begins a character.
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string shortNumber(double value) {
  static constexpr std::array<const char*, 5> kUnits = {"", " k", " M", " G", " T"};
  std::size_t unit = 0;
  while (std::abs(value) >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  const bool whole = unit == 0 && value == std::floor(value);
  const int digits = whole || std::abs(value) >= 99.95 ? 0 : (std::abs(value) >= 9.995 ? 1 : 2);
  return fmt::format("{:.{}f}{}", value, digits, kUnits[unit]);
}

}  // namespace spanscope::cli
