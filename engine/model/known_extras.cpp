// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/known_extras.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

namespace spanscope::model {
namespace {

struct Extra {
  std::string_view before;  ///< the name up to the number of a layer, or all of it
  std::string_view after;   ///< the name after that number; empty without one
  bool onlyTied = false;    ///< known only where the embeddings are tied
};

constexpr std::array kExtras = {
    // The frequencies of the rotary embedding were saved with every layer before transformers 4.32, and are
    // saved once by some later versions. Here they come from the configuration.
    Extra{"model.layers.", ".self_attn.rotary_emb.inv_freq"},
    Extra{"model.rotary_emb.inv_freq", ""},
    // Some trainers saved their tables of cosines and sines too.
    Extra{"model.layers.", ".self_attn.rotary_emb.cos_cached"},
    Extra{"model.layers.", ".self_attn.rotary_emb.sin_cached"},
    // The same table under its second name: not every writer leaves out what is shared.
    Extra{"lm_head.weight", "", true},
};

/// Whether the text is the number of one of the layers as names write it.
bool isLayer(std::string_view text, std::int32_t layers) {
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0 && number < layers;
}

bool fits(const Extra& extra, std::string_view name, const ModelConfig& config) {
  if (extra.onlyTied && !config.tiedEmbeddings) return false;
  if (extra.after.empty()) return name == extra.before;
  if (!name.starts_with(extra.before) || !name.ends_with(extra.after)) return false;
  if (name.size() < extra.before.size() + extra.after.size()) return false;
  name.remove_prefix(extra.before.size());
  name.remove_suffix(extra.after.size());
  return isLayer(name, config.layers);
}

}  // namespace

bool isKnownExtra(std::string_view name, const ModelConfig& config) {
  return std::any_of(kExtras.begin(), kExtras.end(),
                     [&](const Extra& extra) { return fits(extra, name, config); });
}

}  // namespace spanscope::model
