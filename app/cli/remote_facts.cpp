// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/remote_facts.h"

#include "app/cli/text_table.h"
#include "engine/base/counted.h"
#include "engine/remote/protocol.h"

#include <nlohmann/json.hpp>

namespace spanscope::cli {

std::string factsText(const remote::ServerFacts& facts) {
  const remote::ServerKindInfo& kind = remote::infoOf(facts.kind);
  std::string text = std::string(kind.title) + (facts.version.empty() ? "" : " " + facts.version) + "\n";
  if (facts.listsModels) {
    TextTable table({{"model", TextTable::Align::Left}, {"context"}});
    for (const remote::ServedModel& model : facts.models)
      table.addRow({model.name, model.context ? std::to_string(*model.context) : "not said"});
    text += table.text();
  } else {
    text += "  models: not said\n";
  }
  std::string cached;
  switch (kind.cached) {
    case remote::CacheReporting::Always:
      cached = "reported";
      break;
    case remote::CacheReporting::IfAsked:
      cached = std::string("reported if it is set up so: ") + kind.advice;
      break;
    case remote::CacheReporting::Never:
      cached = "cannot be reported";
      break;
  }
  text += "  cached tokens: " + cached + "\n";
  text += std::string("  progress of a prompt: ") + (kind.sendsProgress ? "reported" : "not reported") + "\n";
  text += std::string("  span queries: ") +
          (facts.takes("spnl") ? "taken at /v1/query/execute" : "not taken") + "\n";
  std::string titles;
  for (const remote::Protocol* protocol : remote::protocols()) {
    if (protocol->isTakenBy(facts)) titles += (titles.empty() ? "" : ", ") + std::string(protocol->name);
  }
  text += "  protocols: " + (titles.empty() ? "none" : titles) + "\n";
  if (facts.slots) {
    text += "  slots: " + std::to_string(*facts.slots);
    if (facts.cache.slotTokens) text += ", of " + counted(*facts.cache.slotTokens, "token");
    text += "\n";
  }
  if (facts.cache.blockSize) text += "  blocks: of " + counted(*facts.cache.blockSize, "token") + "\n";
  if (facts.cache.cacheTokens)
    text += "  cache: room for " + counted(*facts.cache.cacheTokens, "token") + "\n";
  if (!facts.cache.findsPrefixes.value_or(true))
    text += "  cache: beginnings of prompts are not looked for\n";
  return text;
}

nlohmann::ordered_json factsJson(const remote::ServerFacts& facts) {
  nlohmann::ordered_json json;
  json["kind"] = remote::infoOf(facts.kind).name;
  if (!facts.version.empty()) json["version"] = facts.version;
  json["models"] = nlohmann::ordered_json::array();
  for (const remote::ServedModel& model : facts.models) {
    auto& entry = json["models"].emplace_back();
    entry["name"] = model.name;
    if (model.context) entry["context"] = *model.context;
  }
  json["takes_queries"] = facts.takes("spnl");
  json["protocols"] = nlohmann::ordered_json::array();
  for (const remote::Protocol* protocol : remote::protocols()) {
    if (protocol->isTakenBy(facts)) json["protocols"].push_back(protocol->name);
  }
  if (facts.slots) json["slots"] = *facts.slots;
  if (facts.cache.slotTokens) json["slot_tokens"] = *facts.cache.slotTokens;
  if (facts.cache.blockSize) json["block_size"] = *facts.cache.blockSize;
  if (facts.cache.cacheTokens) json["cache_tokens"] = *facts.cache.cacheTokens;
  if (facts.cache.findsPrefixes) json["finds_prefixes"] = *facts.cache.findsPrefixes;
  return json;
}

}  // namespace spanscope::cli
