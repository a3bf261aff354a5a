// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/simulator/scenario_lines.h"

#include "engine/base/error.h"
#include "engine/experiment/gzip_text.h"

#include <fstream>
#include <iterator>
#include <sstream>

namespace spanscope::simulator::testing {

std::vector<std::string> scenarioLines(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::istringstream text(experiment::unpacked(bytes, path, std::size_t{1} << 28U));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

void strip(Json& value, std::initializer_list<const char*> names) {
  if (value.is_object())
    for (const char* name : names) value.erase(name);
  if (value.is_structured())
    for (Json& inner : value) strip(inner, names);
}

bool sameValue(const Json& one, const Json& other) {
  return nlohmann::json(one) == nlohmann::json(other);
}

Json replayed(const Server& server, const Json& scenario) {
  return Json::parse(replayLine(server, scenario.dump(), "scenarios.jsonl", 1));
}

std::string differenceInOps(const Json& found, const Json& expected) {
  constexpr std::size_t kShown = 400;
  if (found["ops"].size() != expected["ops"].size())
    return std::to_string(found["ops"].size()) + " ops instead of " + std::to_string(expected["ops"].size());
  for (std::size_t op = 0; op < found["ops"].size(); ++op) {
    if (!sameValue(found["ops"][op], expected["ops"][op]))
      return "op " + std::to_string(op) + ": " + found["ops"][op].dump().substr(0, kShown);
  }
  return sameValue(found, expected) ? std::string() : "another member than the ops";
}

std::string mistakeIn(const Server& server, const std::string& text) {
  try {
    replayLine(server, text, "scenarios.jsonl", 7);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return {};
}

}  // namespace spanscope::simulator::testing
