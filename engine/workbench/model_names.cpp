// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/model_names.h"

#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/query/node_parts.h"
#include "engine/query/parameters.h"
#include "engine/workbench/run_options.h"

#include <algorithm>
#include <cstddef>

namespace spanscope::workbench {
namespace {

/// The text between the names of a checkpoint and its adapter.
constexpr std::string_view kWith = " + ";

/// Returns the name of a GGUF file without the type of its weights: "SmolLM2-135M-Instruct" for
/// "SmolLM2-135M-Instruct.Q4_1" or "…-Q4_K_M". Other names are returned unchanged.
std::string_view withoutWeightType(std::string_view name) {
  const std::size_t mark = name.find_last_of(".-");
  if (mark == std::string_view::npos || mark == 0) return name;
  std::string type(name.substr(mark + 1));
  std::transform(type.begin(), type.end(), type.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  const std::string_view packed = std::string_view(type).substr(type.starts_with("IQ") ? 1 : 0);
  const bool isPacked = packed.size() >= 2 && packed[0] == 'Q' && packed[1] >= '1' && packed[1] <= '8' &&
                        (packed.size() == 2 || packed[2] == '_');
  return isPacked || type == "F32" || type == "F16" || type == "BF16" ? name.substr(0, mark) : name;
}

}  // namespace

std::string adaptedName(const std::string& model, const std::string& adapter) {
  return adapter.empty() ? model : model + std::string(kWith) + checkpoint::Checkpoint(adapter).name();
}

std::string modelNameOf(const RunSettings& settings) {
  try {
    return adaptedName(checkpoint::Checkpoint(modelDirectoryOf(settings)).name(), settings.adapter);
  } catch (const Failure&) {
    return {};
  }
}

bool meansModel(std::string_view wanted, std::string_view loaded) {
  const std::string_view own = loaded.substr(0, loaded.find(kWith));
  const std::string_view name = wanted.substr(wanted.rfind('/') + 1);
  // The name of a path is the name in the window: without ".gguf", and for a snapshot the name of its model's
  // folder.
  return wanted.empty() || name == loaded || name == own || name == withoutWeightType(own) ||
         (!name.empty() && checkpoint::Checkpoint(std::string(wanted)).name() == own);
}

std::vector<std::string> otherModels(const query::Node& query, std::string_view loaded) {
  std::vector<std::string> names;
  query::walk(query, {}, [&](const query::Node& node, const NodePath&) {
    const query::GenerateSettings* settings = query::settingsOf(node);
    if (settings == nullptr || meansModel(settings->model, loaded)) return;
    if (query::parameterName(settings->model)) return;
    if (std::ranges::find(names, settings->model) == names.end()) names.push_back(settings->model);
  });
  return names;
}

std::vector<std::string> stoodFor(const RunSettings& settings) {
  std::vector<std::string> names;
  for (const std::string_view part : splitAt(settings.standsFor, ',')) {
    if (const std::string_view name = trimmed(part); !name.empty()) names.emplace_back(name);
  }
  return names;
}

void standFor(RunSettings& settings, const std::string& wanted) {
  const std::vector<std::string> names = stoodFor(settings);
  if (std::ranges::find(names, wanted) != names.end()) return;
  settings.standsFor += (names.empty() ? "" : ", ") + wanted;
}

}  // namespace spanscope::workbench
