// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/rules/rules.h"

namespace spanscope::plan {
namespace {

/// Every copy generates for itself.
void giveOwnCalls(Draft& draft, RewriteState& state) {
  if (draft.kind == Draft::Kind::Generate) draft.call = state.newCall();
  for (Draft& child : draft.children) giveOwnCalls(child, state);
}

Draft plusInPlaceOf(const Draft& node) {
  Draft plus;
  plus.node = node.node;
  plus.join = query::JoinKind::Plus;
  return plus;
}

Draft generateInPlaceOf(const Draft& node, Draft input, RewriteState& state) {
  Draft generate;
  generate.kind = Draft::Kind::Generate;
  generate.node = node.node;
  generate.settings = node.settings;
  generate.form = node.form;
  generate.call = state.newCall();
  generate.children.push_back(std::move(input));
  return generate;
}

bool isRepeat(const Draft& node, const Surroundings& /*around*/, const RewriteState& /*state*/) {
  return node.kind == Draft::Kind::Repeat;
}

void expandRepeat(Draft& node, const Surroundings& /*around*/, RewriteState& state) {
  if (!state.grow(sizeOf(node), node.count)) return;
  Draft plus = plusInPlaceOf(node);
  plus.children.reserve(node.count);
  for (std::uint32_t copy = 0; copy < node.count; ++copy) {
    Draft input = node.input();
    giveOwnCalls(input, state);
    plus.children.push_back(generateInPlaceOf(node, std::move(input), state));
  }
  node = std::move(plus);
}

bool isMap(const Draft& node, const Surroundings& /*around*/, const RewriteState& /*state*/) {
  return node.kind == Draft::Kind::Map;
}

void expandMap(Draft& node, const Surroundings& /*around*/, RewriteState& state) {
  const DraftSize each = {3, 2 * node.node.size() + node.settings.model.size() + 32};
  if (!state.grow(each, node.inputs.size())) return;
  Draft plus = plusInPlaceOf(node);
  plus.children.reserve(node.inputs.size());
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    Draft message;
    message.kind = Draft::Kind::Message;
    message.node = node.node + "/map/inputs/" + std::to_string(i);
    message.text = std::move(node.inputs[i]);
    plus.children.push_back(generateInPlaceOf(node, std::move(message), state));
  }
  node = std::move(plus);
}

}  // namespace

const Rule kExpandRepeatRule = {
    "expand repeat",
    "The engine has no bulk form: each copy is a step of its own, and together they are a plus.", isRepeat,
    expandRepeat};

const Rule kExpandMapRule = {
    "expand map",
    "The engine has no bulk form: each input is a step of its own, and together they are a plus.", isMap,
    expandMap};

}  // namespace spanscope::plan
