// SPDX-License-Identifier: GPL-3.0-or-later
// Why an architecture is not computed, with what a file tells of its layers.
#include "engine/base/error.h"
#include "engine/model/architectures/other_architectures.h"
#include "engine/model/config_limits.h"

#include <algorithm>

namespace spanscope::model {
namespace {

using checkpoint::GgufMetadata;
using checkpoint::JsonPlace;

/// Kinds of layers that attend, in lists of kinds; all others hold a running state.
bool isAttention(const std::string& kind) {
  return kind == "full_attention" || kind == "sliding_attention" || kind == "attention";
}

/// How many layers hold a running state, as far as the usual fields tell. Nothing here may fail: the file is
/// refused anyway, for a better reason.
std::optional<StateLayers> stateLayers(const JsonPlace& config) {
  const nlohmann::json& fields = config.value();
  for (const char* field : {"layer_types", "layers_block_type"}) {
    if (!fields.contains(field) || !fields[field].is_array()) continue;
    StateLayers state;
    for (const nlohmann::json& kind : fields[field]) {
      ++state.all;
      if (kind.is_string() && !isAttention(kind.get<std::string>())) ++state.with;
    }
    if (state.with > 0) return state;
  }
  const auto number = [&fields](const char* field) -> std::int64_t {
    return fields.contains(field) && fields[field].is_number_integer() ? fields[field].get<std::int64_t>()
                                                                       : 0;
  };
  const std::int64_t layers = number("num_hidden_layers");
  if (layers <= 0 || layers > kMaxLayers) return std::nullopt;
  const std::int64_t interval = number("full_attention_interval");
  if (interval > 0) return StateLayers{.with = layers - layers / interval, .all = layers};
  return std::nullopt;
}

/// How many layers hold a running state: those without heads for keys, or all but every n-th one.
std::optional<StateLayers> stateLayers(std::string_view name, const GgufMetadata& metadata) {
  const std::string architecture(name);
  try {
    if (const auto* heads = metadata.integers(architecture + ".attention.head_count_kv")) {
      const auto with = std::count(heads->begin(), heads->end(), 0);
      if (with > 0) return StateLayers{.with = with, .all = static_cast<std::int64_t>(heads->size())};
    }
  } catch (const Failure&) {
    // One number for all layers.
  }
  const std::int64_t* layers = metadata.integer(architecture + ".block_count");
  const std::int64_t* interval = metadata.integer(architecture + ".full_attention_interval");
  if (layers == nullptr || interval == nullptr || *interval < 1 || *layers < 1 || *layers > kMaxLayers)
    return std::nullopt;
  return StateLayers{.with = *layers - *layers / *interval, .all = *layers};
}

}  // namespace

std::optional<std::string> whyNotComputed(std::string_view name, const JsonPlace& config) {
  const std::optional<NotComputed> reason = otherArchitecture(name);
  if (!reason) return std::nullopt;
  return reasonText(*reason, stateLayers(config));
}

std::optional<std::string> whyNotComputed(std::string_view name, const GgufMetadata& metadata) {
  const std::optional<NotComputed> reason = otherArchitecture(name);
  if (!reason) return std::nullopt;
  return reasonText(*reason, stateLayers(name, metadata));
}

}  // namespace spanscope::model
