// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/architectures/architecture.h"
#include "engine/model/architectures/families.h"

#include <algorithm>
#include <array>
#include <vector>

namespace spanscope::model {
namespace {

constexpr std::array kArchitectures = {&kLlama, &kMistral, &kQwen2, &kQwen3};

const Architecture* find(const char* const Architecture::*field, std::string_view wanted) {
  const auto found = std::find_if(kArchitectures.begin(), kArchitectures.end(),
                                  [&](const Architecture* one) { return one->*field == wanted; });
  return found == kArchitectures.end() ? nullptr : *found;
}

/// Each name once: "a", "b" or "c".
std::string listed(const char* const Architecture::*field) {
  std::vector<std::string> names;
  for (const Architecture* one : kArchitectures) {
    std::string name = checkpoint::inQuotes(one->*field);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

}  // namespace

std::span<const Architecture* const> architectures() {
  return kArchitectures;
}

const Architecture* architectureByName(std::string_view name) {
  return find(&Architecture::name, name);
}
const Architecture* architectureByModelType(std::string_view type) {
  return find(&Architecture::modelType, type);
}
const Architecture* architectureByGguf(std::string_view name) {
  return find(&Architecture::ggufName, name);
}

std::string modelTypes() {
  return listed(&Architecture::modelType);
}
std::string ggufArchitectures() {
  return listed(&Architecture::ggufName);
}

void refuseWindows(const checkpoint::JsonPlace& config) {
  for (const std::string& kind : config.texts("layer_types")) {
    if (kind != "full_attention") {
      throw config.field("layer_types")
          .fail("layers of the kind " + checkpoint::inQuotes(kind), "\"full_attention\" in all layers");
    }
  }
}

}  // namespace spanscope::model
