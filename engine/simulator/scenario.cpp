// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simulator/scenario.h"

#include "engine/base/utf8.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace spanscope::simulator {

namespace {

constexpr int kMaxDepth = 64;
constexpr std::size_t kShown = 60;  // bytes of a value in a message

std::string described(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_null()) return "null";
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kShown) text = text.substr(0, kShown) + "…";
  return text;
}

std::string rangeText(std::int64_t least, std::int64_t most) {
  if (most == std::numeric_limits<std::int64_t>::max())
    return "a whole number of at least " + std::to_string(least);
  return /*id:whole-number-scenario*/ "a whole number from " + std::to_string(least) + " to " +
         std::to_string(most);
}

bool isIn(const Json& value, std::int64_t least, std::int64_t most) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > std::uint64_t(std::numeric_limits<std::int64_t>::max()))
    return false;
  const auto number = value.get<std::int64_t>();
  return number >= least && number <= most;
}

}  // namespace

Failure ScenarioPlace::fail(std::string found, std::string expected) const {
  std::string place = "line " + std::to_string(m_line->line);
  if (!m_pointer.empty()) place += ": " + m_pointer;
  return Failure({m_line->file, std::move(place), std::move(found), std::move(expected)});
}

Failure ScenarioPlace::unexpected(std::string expected) const {
  return fail(described(*m_value), std::move(expected));
}

void ScenarioPlace::requireObject() const {
  if (!m_value->is_object()) throw unexpected("an object");
}

std::optional<ScenarioPlace> ScenarioPlace::find(const std::string& name) const {
  requireObject();
  const auto found = m_value->find(name);
  if (found == m_value->end() || found->is_null()) return std::nullopt;
  return ScenarioPlace(*found, *m_line, m_pointer + pointerStep(name));
}

ScenarioPlace ScenarioPlace::field(const std::string& name) const {
  if (auto found = find(name)) return *std::move(found);
  throw fail("no \"" + name + "\"", "a value");
}

std::int64_t ScenarioPlace::integer(const std::string& name, std::int64_t least, std::int64_t most) const {
  return field(name).requireInteger(least, most);
}

std::int64_t ScenarioPlace::integerOr(const std::string& name, std::int64_t least, std::int64_t most,
                                      std::int64_t otherwise) const {
  const auto found = find(name);
  return found ? found->requireInteger(least, most) : otherwise;
}

bool ScenarioPlace::flagOr(const std::string& name, bool otherwise) const {
  const auto found = find(name);
  return found ? found->requireFlag() : otherwise;
}

std::string ScenarioPlace::textOr(const std::string& name, std::string otherwise) const {
  const auto found = find(name);
  return found ? found->requireText() : std::move(otherwise);
}

std::vector<ScenarioPlace> ScenarioPlace::elements() const {
  if (!m_value->is_array()) throw unexpected("a list");
  std::vector<ScenarioPlace> places;
  places.reserve(m_value->size());
  for (const Json& element : *m_value)
    places.emplace_back(element, *m_line, m_pointer + "/" + std::to_string(places.size()));
  return places;
}

std::int64_t ScenarioPlace::requireInteger(std::int64_t least, std::int64_t most) const {
  if (!isIn(*m_value, least, most)) throw unexpected(rangeText(least, most));
  return m_value->get<std::int64_t>();
}

double ScenarioPlace::requireNumber(double least, double most) const {
  const double number = m_value->is_number() ? m_value->get<double>() : std::nan("");
  if (!(number >= least && number <= most))
    throw unexpected("a number from " + std::to_string(least) + " to " + std::to_string(most));
  return number;
}

bool ScenarioPlace::requireFlag() const {
  if (!m_value->is_boolean()) throw unexpected("true or false");
  return m_value->get<bool>();
}

const std::string& ScenarioPlace::requireText() const {
  if (!m_value->is_string()) throw unexpected("a text");
  return m_value->get_ref<const std::string&>();
}

std::vector<TokenId> ScenarioPlace::requireTokens() const {
  if (!m_value->is_array()) throw unexpected(/*id:list-token-ids*/ "a list of token ids");
  constexpr std::int64_t kMost = std::numeric_limits<TokenId>::max();
  std::vector<TokenId> tokens;
  tokens.reserve(m_value->size());
  for (const Json& element : *m_value) {
    if (!isIn(element, 0, kMost)) {
      throw ScenarioPlace(element, *m_line, m_pointer + "/" + std::to_string(tokens.size()))
          .unexpected("a token id, " + rangeText(0, kMost));
    }
    tokens.push_back(element.get<TokenId>());
  }
  return tokens;
}

Json parseScenario(std::string_view text, const ScenarioLine& line) {
  const auto fail = [&line](std::string found, std::string expected) {
    return Failure({line.file, "line " + std::to_string(line.line), std::move(found), std::move(expected)});
  };
  const auto checkDepth = [&fail](int depth, Json::parse_event_t, const Json&) {
    if (depth >= kMaxDepth)
      throw fail("more than " + std::to_string(kMaxDepth) + " levels of nesting", "fewer levels");
    return true;
  };
  Json scenario;
  try {
    scenario = Json::parse(text, checkDepth);
  } catch (const Json::parse_error& error) {
    throw fail(/*id:mistake-byte*/ "an error at byte " + std::to_string(error.byte), "JSON");
  } catch (const Json::out_of_range&) {
    throw fail(/*id:number-too-large*/ "a number that is too large", "numbers up to 1e308");
  } catch (const Json::exception&) {
    throw fail("a text that is not JSON", "JSON");
  }
  ScenarioPlace(scenario, line).requireObject();
  return scenario;
}

Json withFound(const Json& given, std::span<const Member> members, Json found) {
  Json written = Json::object();
  for (const Member& member : members) {
    if (const auto value = found.find(member.name); member.isFound && value != found.end()) {
      written[member.name] = std::move(*value);
    } else if (const auto stands = given.find(member.name); !member.isFound && stands != given.end()) {
      written[member.name] = *stands;
    }
  }
  for (const auto& [name, value] : given.items()) {
    const auto isKnown = [&name = name](const Member& member) { return name == member.name; };
    if (std::ranges::none_of(members, isKnown)) written[name] = value;
  }
  return written;
}

void SeenTokens::add(std::string_view salt, std::span<const TokenId> tokens) {
  m_tree.insert({.key = {}, .salt = std::string(salt)}, tokens);
}

std::vector<FateRun> SeenTokens::fates(std::string_view salt, std::span<const TokenId> prompt,
                                       std::size_t cached, std::size_t kept, std::size_t block) const {
  const std::size_t seen = m_tree.matchedTokens({.key = {}, .salt = std::string(salt)}, prompt);
  std::vector<FateRun> fates;
  std::size_t begin = 0;
  const auto add = [&](std::size_t end, Fate fate) {
    if (begin < end)
      fates.push_back({static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end - begin), fate});
    begin = std::max(begin, end);
  };
  add(cached, Fate::Found);
  add(kept, Fate::AlwaysRecomputed);
  add(seen / block * block, Fate::Gone);
  add(seen, Fate::NotWhole);
  add(prompt.size(), Fate::Differs);
  return fates;
}

}  // namespace spanscope::simulator
