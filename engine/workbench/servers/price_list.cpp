// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/servers/price_list.h"

#include "engine/base/output_file.h"
#include "engine/base/utf8.h"
#include "engine/workbench/servers/server_list.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <system_error>

namespace spanscope::workbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMillion = 1e6;
constexpr double kMostPrice = 1e9;

struct Column {
  const char* name;
  double TokenPrice::*value;
};
constexpr std::array kColumns{Column{"input", &TokenPrice::input}, Column{"cached", &TokenPrice::cached},
                              Column{"output", &TokenPrice::output}};

}  // namespace

double TokenPrice::ofPrompt(std::int64_t computedTokens, std::int64_t cachedTokens) const {
  return (static_cast<double>(computedTokens) * input + static_cast<double>(cachedTokens) * cached) /
         kMillion;
}

std::optional<Error> problemOf(const TokenPrice& price) {
  constexpr std::size_t kLongest = 200;
  if (price.name.empty() || price.name.size() > kLongest || !isValidUtf8(price.name))
    return errorAt("name", "\"" + toValidUtf8(price.name.substr(0, kLongest)) + "\"",
                   "the name of a server or a model");
  for (const Column& column : kColumns) {
    const double value = price.*column.value;
    if (!std::isfinite(value) || value < 0 || value > kMostPrice)
      return errorAt(column.name, std::to_string(value), "a price from 0 for one million tokens");
  }
  return std::nullopt;
}

std::vector<TokenPrice> PriceList::list() const {
  std::vector<TokenPrice> prices;
  std::error_code error;
  if (m_file.empty() || !std::filesystem::exists(m_file, error)) return prices;
  constexpr std::uintmax_t kMostBytes = 1U << 20U;
  const auto fail = [this](std::string place, std::string found, std::string expected) {
    return Failure({m_file.string(), std::move(place), std::move(found), std::move(expected)});
  };
  const std::uintmax_t bytes = std::filesystem::file_size(m_file, error);
  if (error || bytes > kMostBytes) throw fail({}, "a file that cannot be read", "a table of prices in JSON");
  std::ifstream file(m_file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Json json = Json::parse(text, nullptr, false);
  const auto all = json.is_object() ? json.find("prices") : json.end();
  if (!json.is_object() || all == json.end() || !all->is_array())
    throw fail({}, "no list of prices", "an object with a list \"prices\"");
  for (std::size_t i = 0; i < all->size(); ++i) {
    const Json& entry = (*all)[i];
    const std::string place = "/prices/" + std::to_string(i);
    if (!entry.is_object() || prices.size() >= kMost)
      throw fail(place, entry.is_object() ? "more prices than " + std::to_string(kMost) : "no object",
                 "a price");
    TokenPrice price;
    if (const auto name = entry.find("name"); name != entry.end() && name->is_string())
      price.name = name->get<std::string>();
    for (const Column& column : kColumns) {
      const auto value = entry.find(column.name);
      if (value == entry.end()) continue;
      if (!value->is_number()) throw fail(place + "/" + column.name, "no number", "a price");
      price.*column.value = value->get<double>();
    }
    if (const std::optional<Error> problem = problemOf(price))
      throw fail(place + "/" + problem->place, problem->found, problem->expected);
    prices.push_back(std::move(price));
  }
  std::ranges::stable_sort(prices, {}, &TokenPrice::name);
  return prices;
}

std::optional<TokenPrice> PriceList::find(std::string_view name) const {
  for (TokenPrice& price : list()) {
    if (price.name == name) return std::move(price);
  }
  return std::nullopt;
}

void PriceList::put(const TokenPrice& price) {
  if (std::optional<Error> problem = problemOf(price)) {
    problem->file = "price";
    throw Failure(std::move(*problem));
  }
  std::vector<TokenPrice> prices = list();
  std::erase_if(prices, [&price](const TokenPrice& other) { return other.name == price.name; });
  prices.push_back(price);
  write(std::move(prices));
}

bool PriceList::remove(std::string_view name) {
  std::vector<TokenPrice> prices = list();
  if (std::erase_if(prices, [name](const TokenPrice& price) { return price.name == name; }) == 0)
    return false;
  write(std::move(prices));
  return true;
}

void PriceList::write(std::vector<TokenPrice> prices) const {
  std::ranges::stable_sort(prices, {}, &TokenPrice::name);
  Json json;
  json["prices"] = Json::array();
  for (const TokenPrice& price : prices) {
    Json& entry = json["prices"].emplace_back();
    entry["name"] = price.name;
    for (const Column& column : kColumns) entry[column.name] = price.*column.value;
  }
  std::error_code ignored;
  std::filesystem::create_directories(m_file.parent_path(), ignored);
  if (const std::optional<Error> error = writeFile(m_file, json.dump(2) + "\n")) throw Failure(*error);
}

std::filesystem::path standardPricesFile() {
  const std::filesystem::path servers = standardServersFile();
  return servers.empty() ? servers : servers.parent_path() / "prices.json";
}

std::string priceText(double price) {
  constexpr int kDigits = 3;
  constexpr int kMostPlaces = 12;
  if (price <= 0) return "0";
  const int places =
      std::clamp(kDigits - 1 - static_cast<int>(std::floor(std::log10(price))), 0, kMostPlaces);
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.begin(), text.end(), price, std::chars_format::fixed, places);
  std::string written(text.begin(), end.ptr);
  if (written.find('.') == std::string::npos) return written;
  written.erase(written.find_last_not_of('0') + 1);
  if (written.back() == '.') written.pop_back();
  return written;
}

}  // namespace spanscope::workbench
