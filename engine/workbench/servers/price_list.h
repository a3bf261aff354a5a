// SPDX-License-Identifier: GPL-3.0-or-later
// The user's table of prices of servers, for the cost of prompts. The table is a file that the user may edit.
// Open this file to add a kind of price.
#pragma once

#include "engine/base/error.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::workbench {

/// Prices for one million tokens.
struct TokenPrice {
  std::string name;   ///< a server of the user's list, a kind of server ("vllm"), or a model
  double input = 0;   ///< computed tokens of prompts
  double cached = 0;  ///< cached tokens of prompts
  double output = 0;  ///< tokens of answers
  bool operator==(const TokenPrice&) const = default;

  /// Returns the price of a prompt.
  double ofPrompt(std::int64_t computedTokens, std::int64_t cachedTokens) const;
};

/// Returns the fault of a price, or nothing. The error has no file.
std::optional<Error> problemOf(const TokenPrice& price);

class PriceList {
 public:
  static constexpr std::size_t kMost = 500;

  /// An empty path: the list is empty.
  explicit PriceList(std::filesystem::path file) : m_file(std::move(file)) {}

  /// Returns all prices by name. Throws Failure if the file exists and is no table of prices.
  std::vector<TokenPrice> list() const;
  /// Throws like list().
  std::optional<TokenPrice> find(std::string_view name) const;
  /// Adds a price, or replaces the price with this name. Throws like list(), and Failure if the price is
  /// wrong or the file cannot be written.
  void put(const TokenPrice& price);
  /// Returns false if there is no such price. Throws like put().
  bool remove(std::string_view name);

 private:
  void write(std::vector<TokenPrice> prices) const;

  std::filesystem::path m_file;
};

/// Returns spanscope/prices.json in this user's folder for settings. Empty: there is no such folder.
std::filesystem::path standardPricesFile();

/// Returns "0.00123", or "0".
std::string priceText(double price);

}  // namespace spanscope::workbench
