// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/run_options.h"

#include "engine/base/error.h"
#include "engine/model/adapter.h"
#include "engine/model/config.h"
#include "engine/policy/policies.h"
#include "engine/query/node_parts.h"
#include "engine/retrieve/ranking.h"
#include "engine/workbench/resource_paths.h"
#include "engine/workbench/setting_choices.h"

#include <cstdint>
#include <cstdlib>

namespace spanscope::workbench {

std::filesystem::path modelDirectoryOf(const document::RunSettings& settings) {
  return settings.model.empty() ? bundledModelDirectory() : std::filesystem::path(settings.model);
}

const text::ChatTemplate* chosenTemplateOf(const document::RunSettings& settings) {
  if (const text::ChatTemplate* chat = templateOf(settings.chatTemplate)) return chat;
  if (settings.chatTemplate != kJinjaTemplate && settings.templateVariables.empty()) return nullptr;
  return &text::programTemplate(modelDirectoryOf(settings), settings.templateVariables);
}

const text::ChatTemplate& chatTemplateOf(const document::RunSettings& settings) {
  const text::ChatTemplate* chosen = chosenTemplateOf(settings);
  return chosen == nullptr ? text::findChatTemplate(modelDirectoryOf(settings)) : *chosen;
}

std::string usualPolicyOf(const document::RunSettings& settings) {
  try {
    const bool isTrained =
        model::readConfig(modelDirectoryOf(settings)).blockAttention ||
        (!settings.adapter.empty() && model::Adapter::open(settings.adapter).blockAttention());
    if (!isTrained) return policy::Choice(policy::policyForAnyCheckpoint()).name();
  } catch (const Failure&) {
    // The run reports the error.
  }
  return standardPolicy();
}

std::filesystem::path standardStoreFolder() {
  const auto absolute = [](const char* name) -> std::filesystem::path {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets variables of the environment.
    const char* const value = std::getenv(name);
    const std::filesystem::path path = value != nullptr ? value : "";
    return path.is_absolute() ? path : std::filesystem::path();
  };
  std::filesystem::path caches = absolute("XDG_CACHE_HOME");
  if (caches.empty() && !absolute("HOME").empty()) caches = absolute("HOME") / ".cache";
  if (caches.empty())
    throw Failure(errorAt("span store", "no variable XDG_CACHE_HOME or HOME with an absolute path",
                          "a folder for caches"));
  return caches / "spanscope" / "spans";
}

run::SessionConfig sessionConfigOf(const document::RunSettings& settings) {
  constexpr int kMebibyteBits = 20;
  run::SessionConfig config;
  config.blockSize = settings.blockSize;
  config.blockCount = settings.blockCount;
  config.kvType = kvTypeOf(settings.kvType);
  config.store.hostBytes = static_cast<std::uint64_t>(settings.cacheHostMebibytes) << kMebibyteBits;
  config.store.diskBytes = static_cast<std::uint64_t>(settings.cacheDiskMebibytes) << kMebibyteBits;
  if (settings.cacheDiskMebibytes > 0) config.store.folder = standardStoreFolder();
  return config;
}

document::RunSettings modelIdentityOf(const document::RunSettings& settings) {
  document::RunSettings identity = onlyThose(settings, {SettingEffect::Model});
  identity.model = modelDirectoryOf(settings).string();
  return identity;
}

document::RunSettings sessionIdentityOf(const document::RunSettings& settings) {
  document::RunSettings identity = onlyThose(settings, {SettingEffect::Model, SettingEffect::Session});
  identity.model = modelDirectoryOf(settings).string();
  return identity;
}

run::RunOptions runOptionsOf(const document::RunSettings& settings) {
  run::RunOptions options;
  options.policy = policyOf(settings.policy);
  options.layout = layoutOf(settings.layout);
  options.seed = settings.seed;
  options.maxTokens = settings.maxTokens;
  return options;
}

std::optional<remote::EmbeddingsServer> embeddingsServerOf(const document::RunSettings& settings) {
  if (!settings.asksServer()) return std::nullopt;
  return remote::EmbeddingsServer{
      .url = settings.embeddingsUrl, .model = settings.embeddingsModel, .key = {}};
}

namespace {

bool mayRankByVectors(const document::RunSettings& settings) {
  return retrieve::parseRanking(settings.ranking) != retrieve::Ranking::Lexical;
}

}  // namespace

bool asksServer(const query::Node& query, const document::RunSettings& settings) {
  if (!settings.asksServer() || !mayRankByVectors(settings)) return false;
  return query::anyNode(query, [&](const query::Node& node) {
    if (query::documentOf(node) == nullptr) return false;
    const std::string& model = *query::embeddingModelOf(node);
    const bool isNamed = !model.empty() && model == settings.embeddingsModel;
    return retrieve::parseRanking(settings.ranking) || isNamed;
  });
}

}  // namespace spanscope::workbench
