// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/spec_text.h"

#include "engine/base/counted.h"

#include <algorithm>
#include <cmath>
#include <locale>
#include <sstream>
#include <vector>

namespace spanscope::model {
namespace {

std::string numberText(double value) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(10);
  text << value;
  return text.str();
}

std::vector<std::int64_t> layersByKind(const ModelConfig& config) {
  std::vector<std::int64_t> counts(config.kinds());
  for (std::int32_t layer = 0; layer < config.layers; ++layer) ++counts[config.kindOf(layer)];
  return counts;
}

std::string kindText(const AttentionKind& kind) {
  std::string text = kind.window == 0 ? "all" : counted(kind.window, "token");
  if (!kind.rotary) return text + ", not turned";
  text += ", base " + numberText(kind.rotary->theta);
  if (kind.rotary->turned > 0) text += ", the first " + std::to_string(kind.rotary->turned) + " of each head";
  const std::string scaling = scalingText(kind);
  if (scaling != "none") text += ", " + scaling;
  if (kind.positionScale.isOn()) {
    text += ", queries scaled at every " + counted(kind.positionScale.step, "token") + " by 1 + " +
            numberText(std::round(kind.positionScale.beta * 1e6) / 1e6) + " ln(1 + step)";
  }
  return text;
}

}  // namespace

std::string scalingText(const AttentionKind& kind) {
  if (!kind.rotary) return "not turned";
  const RotarySpec& rotary = *kind.rotary;
  if (rotary.linearFactor != 1) return "linear, × " + numberText(rotary.linearFactor);
  if (rotary.llama3 || !rotary.factors.empty()) return "llama3";
  if (rotary.yarn) {
    return "YaRN, × " + numberText(rotary.yarn->factor) + " from " +
           counted(rotary.yarn->originalMaxPositions, "token");
  }
  if (rotary.longRope) {
    const std::string original = counted(rotary.longRope->originalMaxPositions, "token");
    return "LongRoPE, for " + (rotary.longRope->isLong ? "more than " + original : "up to " + original);
  }
  return "none";
}

std::string attentionText(const ModelConfig& config) {
  const std::vector<std::int64_t> counts = layersByKind(config);
  std::string text;
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    if (!text.empty()) text += "; ";
    text += counted(counts[kind], "layer") + (counts[kind] == 1 ? " sees " : " see ") +
            kindText(config.kind(kind));
  }
  return text;
}

std::string relocationText(const ModelConfig& config) {
  std::string text =
      "scores depend only on how far apart two tokens stand, so a stored span is the same at every place";
  const std::vector<std::int64_t> counts = layersByKind(config);
  std::int64_t windowed = 0;
  std::int32_t widest = 0;
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    if (config.kind(kind).window == 0) continue;
    windowed += counts[kind];
    widest = std::max(widest, config.kind(kind).window);
  }
  if (const std::int64_t step = positionStepOf(config); step > 0) {
    text = "queries are scaled by their absolute position, in steps of " + counted(step, "token") +
           ": a stored span is the same at every place up to the first step, and beyond it only where it was "
           "computed; besides, scores depend only on how far apart two tokens stand";
  }
  if (windowed == 0) return text;
  return text + "; in " + std::to_string(windowed) + " of " + counted(config.layers, "layer") +
         " a token sees only the last " + counted(widest, "token") +
         " of the view, and what stands further away reaches it by way of other layers or of tokens between";
}

}  // namespace spanscope::model
