// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/setting_choices.h"

#include "engine/compute/backends.h"
#include "engine/policy/choice.h"
#include "engine/retrieve/ranking.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace spanscope::workbench {

namespace {

/// A value with its name and its label.
template <class T>
struct Named {
  T value;
  const char* name;
  const char* label = "";
};

constexpr std::array<Named<plan::OutputForm>, 2> kOutputForms = {
    {{plan::OutputForm::Recomputed, "recomputed", tr("recomputed")},
     {plan::OutputForm::Reused, "reused", tr("reused (approximate)")}}};

/// The name of OutputForm::Recomputed in files of earlier versions.
constexpr std::string_view kEarlierRecomputed = "anew";  // earlier name

constexpr std::array<Named<plan::LocalityShape>, 2> kLocalityShapes = {
    {{plan::LocalityShape::Tree, "tree", tr("levels until one judge is left")},
     {plan::LocalityShape::MapReduce, "map-reduce", tr("one level, then one judge of all answers")}}};

/// The types of the cache, in addition to the type that suits the device.
constexpr std::array kKvTypes = {compute::DType::F32, compute::DType::BF16};

/// In the order of layout::layouts().
constexpr std::array<std::pair<layout::Layout, const char*>, 3> kLayouts = {
    {{layout::Layout::Exact, tr("exact: the chat template's text")},
     {layout::Layout::Padded, tr("padded: padding and delimiter tokens")},
     {layout::Layout::Cropped, tr("cropped: padded, and answers truncated to whole blocks")}}};

constexpr std::array<std::pair<retrieve::Ranking, const char*>, 3> kRankings = {
    {{retrieve::Ranking::Lexical, tr("shared words (BM25)")},
     {retrieve::Ranking::Embedding, tr("vectors")},
     {retrieve::Ranking::Hybrid, tr("both")}}};

constexpr std::array<Named<run::AttentionDetail>, 3> kAttentionDetails = {
    {{run::AttentionDetail::Answer, "answer", tr("the answer's tokens")},
     {run::AttentionDetail::Prompt, "prompt", tr("the answer and the prompt")},
     {run::AttentionDetail::Heads, "heads", tr("the answer and the prompt, with the maps of every head")}}};

template <class T, std::size_t N>
Choices choicesOf(const std::array<Named<T>, N>& table) {
  Choices choices;
  for (const Named<T>& entry : table) choices.push_back({.name = entry.name, .label = entry.label});
  return choices;
}

template <class T, std::size_t N>
T valueOf(const std::array<Named<T>, N>& table, std::string_view name) {
  for (const Named<T>& entry : table) {
    if (name == entry.name) return entry.value;
  }
  return table.front().value;
}

}  // namespace

Choices deviceChoices() {
  Choices choices{
      {.name = std::string(compute::kAutoDevice), .label = tr(/*id:first-can-used*/ "first usable device")}};
  for (const compute::DeviceKind* kind : compute::kDeviceKinds)
    choices.push_back({.name = kind->name, .label = kind->label});
  return choices;
}

Choices templateChoices() {
  Choices choices{
      {.name = "auto", .label = tr("the checkpoint's own")},
      {.name = std::string(kJinjaTemplate), .label = tr("the checkpoint's own, always rendered by Jinja")}};
  for (const text::ChatTemplate* chat : text::chatTemplates()) choices.push_back({.name = chat->name});
  return choices;
}

Choices policyChoices() {
  Choices choices;
  for (const policy::Policy* policy : policy::policies())
    choices.push_back({.name = policy::Choice(*policy).name(), .help = policy->help, .brief = policy->brief});
  return choices;
}

Choices layoutChoices() {
  Choices choices;
  for (const auto& [layout, label] : kLayouts) {
    const layout::LayoutInfo& info = layout::infoOf(layout);
    choices.push_back({.name = info.name, .label = label, .help = info.help, .brief = info.brief});
  }
  return choices;
}

Choices kvTypeChoices() {
  Choices choices{{.name = "auto", .label = tr("f32 on the CPU, bf16 on a GPU")}};
  for (const compute::DType type : kKvTypes) choices.push_back({.name = compute::nameOf(type)});
  return choices;
}

Choices arithmeticChoices() {
  return {{.name = compute::nameOf(compute::Arithmetic::F32),
           .label = tr("f32"),
           .help = tr("Activations and sums in f32, weights converted exactly"),
           .brief = "activations in f32"},
          {.name = compute::nameOf(compute::Arithmetic::Fast),
           .label = tr("fast"),
           .help = tr("The fastest instructions: activations are rounded to bf16 for bf16 weights, and to "
                      "eight bits for packed weights"),
           .brief = "rounded to bf16 for bf16 weights and to 8 bits for packed weights, if this is faster on "
                    "the CPU"}};
}

Choices outputFormChoices() {
  return choicesOf(kOutputForms);
}

Choices localityShapeChoices() {
  return choicesOf(kLocalityShapes);
}

Choices rankingChoices() {
  Choices choices{{.name = "auto", .label = tr("auto")}};
  for (const auto& [ranking, label] : kRankings)
    choices.push_back({.name = retrieve::rankingName(ranking), .label = label});
  return choices;
}

Choices embeddingsChoices() {
  return {{.name = "checkpoint", .label = tr("the checkpoint")}, {.name = "server", .label = tr("a server")}};
}

Choices attentionChoices() {
  return choicesOf(kAttentionDetails);
}

policy::Choice policyOf(std::string_view name) {
  return policy::findChoice(name).value_or(policy::Choice());
}

const text::ChatTemplate* templateOf(std::string_view name) {
  return text::findChatTemplateNamed(name);
}

layout::Layout layoutOf(std::string_view name) {
  return layout::findLayout(name).value_or(layout::Layout::Exact);
}

compute::Arithmetic arithmeticOf(std::string_view name) {
  return compute::arithmeticOf(name).value_or(compute::Arithmetic::F32);
}

std::optional<compute::DType> kvTypeOf(std::string_view name) {
  for (const compute::DType type : kKvTypes) {
    if (name == compute::nameOf(type)) return type;
  }
  return std::nullopt;
}

plan::OutputForm outputFormOf(std::string_view name) {
  return valueOf(kOutputForms, name);
}

plan::LocalityShape localityShapeOf(std::string_view name) {
  return valueOf(kLocalityShapes, name);
}

run::AttentionDetail attentionDetailOf(std::string_view name) {
  return valueOf(kAttentionDetails, name);
}

bool mayBe(const Setting& setting, std::string_view name) {
  if (setting.kind == TextKind::Policy) return policy::findChoice(name).has_value();
  if (setting.kind == TextKind::Device && compute::deviceKindOf(name) != nullptr) return true;
  const Choices choices = setting.choices();
  return std::ranges::any_of(choices,
                             [&](const Choice& choice) { return choice.name == currentName(setting, name); });
}

std::string currentName(const Setting& setting, std::string_view name) {
  if (std::string_view(setting.key) == "output_form" && name == kEarlierRecomputed) return "recomputed";
  return std::string(name);
}

std::string expectedBeside(const Setting& setting, std::string_view name) {
  if (setting.kind != TextKind::Policy) return {};
  const auto read = policy::readChoice(name);
  const auto* problem = std::get_if<policy::ChoiceProblem>(&read);
  return problem == nullptr || problem->policy == nullptr ? std::string() : problem->expected;
}

}  // namespace spanscope::workbench
