// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/run_options.h"

#include "engine/policy/policies.h"
#include "engine/query/node_parts.h"
#include "engine/query/node_walk.h"
#include "engine/workbench/resource_paths.h"

#include <string>

namespace spanscope::workbench {

std::filesystem::path modelDirectoryOf(const document::RunSettings& settings) {
  return settings.model.empty() ? workbench::bundledModelDirectory() : std::filesystem::path(settings.model);
}

run::SessionConfig sessionConfigOf(const document::RunSettings& settings) {
  run::SessionConfig config;
  config.blockSize = settings.blockSize;
  config.blockCount = settings.blockCount;
  config.kvType = settings.kvType == "bf16" ? compute::DType::BF16 : compute::DType::F32;
  return config;
}

bool isSameSession(const run::SessionConfig& a, const run::SessionConfig& b) {
  return a.blockSize == b.blockSize && a.blockCount == b.blockCount && a.kvType == b.kvType;
}

run::RunOptions runOptionsOf(const document::RunSettings& settings) {
  run::RunOptions options;
  if (const policy::Policy* policy = policy::findPolicy(settings.policy)) options.policy = policy;
  options.seed = settings.seed;
  options.maxTokens = settings.maxTokens;
  return options;
}

std::optional<remote::EmbeddingsServer> embeddingsServerOf(const document::RunSettings& settings) {
  if (settings.embeddings != "server") return std::nullopt;
  return remote::EmbeddingsServer{
      .url = settings.embeddingsUrl, .model = settings.embeddingsModel, .key = {}};
}

bool asksServer(const query::Node& query, const document::RunSettings& settings) {
  if (settings.embeddings != "server" || settings.ranking == "lexical") return false;
  return query::anyNode(query, [&](const query::Node& node) {
    if (query::documentOf(node) == nullptr) return false;
    const std::string& model = *query::embeddingModelOf(node);
    const bool isNamed = !model.empty() && model == settings.embeddingsModel;
    return settings.ranking != "auto" || isNamed;
  });
}

}  // namespace spanscope::workbench
