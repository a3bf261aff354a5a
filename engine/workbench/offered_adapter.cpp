// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/offered_adapter.h"

#include "engine/base/error.h"
#include "engine/checkpoint/json_reading.h"
#include "engine/model/adapter.h"
#include "engine/workbench/resource_paths.h"

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

namespace spanscope::workbench {
namespace {

constexpr std::uintmax_t kMostConfigurationBytes = 1 << 20;

std::string baseOf(const std::filesystem::path& directory) {
  return checkpoint::readJsonFile(directory / "adapter_config.json", kMostConfigurationBytes,
                                  "the configuration of an adapter", [](const checkpoint::JsonPlace& config) {
                                    const std::string base =
                                        config.text("base_model_name_or_path").value_or("");
                                    return base.substr(base.rfind('/') + 1);
                                  });
}

/// Rows and columns of a matrix of a layer by the end of its name; zero for another one.
std::pair<std::int64_t, std::int64_t> shapeOf(const model::ModelConfig& config, const std::string& name) {
  const std::int64_t hidden = config.hiddenSize;
  const std::int64_t inner = config.intermediateSize;
  const std::int64_t queries = std::int64_t{config.heads} * config.headSize;
  const std::int64_t keys = std::int64_t{config.keyValueHeads} * config.headSize;
  if (name.ends_with(".q_proj")) return {queries, hidden};
  if (name.ends_with(".k_proj") || name.ends_with(".v_proj")) return {keys, hidden};
  if (name.ends_with(".o_proj")) return {hidden, queries};
  if (name.ends_with(".gate_proj") || name.ends_with(".up_proj")) return {inner, hidden};
  if (name.ends_with(".down_proj")) return {hidden, inner};
  return {};
}

bool fits(const model::Adapter& adapter, const model::ModelConfig& config) {
  const std::string last = "model.layers." + std::to_string(config.layers - 1) + ".";
  const std::string beyond = "model.layers." + std::to_string(config.layers) + ".";
  bool hasLast = false;
  for (const auto& [name, pair] : adapter.pairs()) {
    if (shapeOf(config, name) != std::pair(pair.rows, pair.columns) || name.starts_with(beyond)) return false;
    hasLast = hasLast || name.starts_with(last);
  }
  return hasLast;
}

}  // namespace

std::optional<OfferedAdapter> offeredAdapter(const model::ModelConfig& config) {
  if (config.blockAttention || config.architecture != "LlamaForCausalLM") return std::nullopt;
  try {
    std::vector<std::filesystem::path> folders;
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(bundledModelDirectory().parent_path(), error)) {
      if (std::filesystem::is_regular_file(entry.path() / "adapter_config.json", error))
        folders.push_back(entry.path());
    }
    std::sort(folders.begin(), folders.end());
    for (const std::filesystem::path& folder : folders) {
      const model::Adapter adapter = model::Adapter::open(folder);
      if (adapter.blockAttention() && fits(adapter, config))
        return OfferedAdapter{.directory = folder, .base = baseOf(folder)};
    }
  } catch (const Failure&) {
    // A program without its resources, or with damaged ones, offers nothing.
  }
  return std::nullopt;
}

}  // namespace spanscope::workbench
