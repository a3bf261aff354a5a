// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/export/feature_table.h"

#include "engine/query/node_parts.h"
#include "engine/query/parameters.h"
#include "engine/query/visit_fields.h"
#include "engine/spnl/backends.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace spanscope::exports {

namespace {

constexpr Targets kForms{Target::Query, Target::Yaml, Target::Lisp};
constexpr Targets kServer{Target::Calls, Target::Request};
constexpr Targets kSent = kServer | Targets{Target::Chat};
constexpr Targets kAll = kForms | kSent | Targets{Target::Tokens};

/// Adds the remarks about an operator, by its properties.
void addOperator(std::vector<FeatureRow>& rows, std::string_view key, const query::OperatorInfo& info) {
  const auto add = [&](Targets targets, Effect effect, const query::Remark& remark,
                       RowCondition condition = RowCondition::Always) {
    if (remark.one.empty()) return;
    rows.push_back({Feature::Operator, targets, effect, remark.one, remark.many, condition, key});
  };
  add({Target::Request}, Effect::Refused, info.onServer, RowCondition::SentElsewhere);
  if (query::isSugar(info)) {
    add(kAll, Effect::Refused, info.elsewhere);
  } else if (info.resolvedBy == query::ResolvedBy::Retrieval) {
    add({Target::Chat}, Effect::Refused, info.elsewhere);
    add({Target::Request}, Effect::Refused, info.elsewhere, RowCondition::SentHere);
  } else if (info.gives == query::Gives::Nothing) {
    add({Target::Calls, Target::Chat, Target::Tokens}, Effect::Differs, info.elsewhere);
    add({Target::Request}, Effect::Differs, info.elsewhere, RowCondition::SentHere);
  } else {
    // An answer for each copy or input is more than an operator that is written out before sending.
    add({Target::Chat}, info.gives == query::Gives::Reply ? Effect::Differs : Effect::Note, info.elsewhere);
  }
}

std::vector<FeatureRow> operatorRows() {
  std::vector<FeatureRow> rows;
  query::forEachOperator([&]<class Operator>() {
    query::forEachKey<Operator>(
        [&](std::string_view key, const auto& /*make*/) { addOperator(rows, key, Operator::kInfo); });
  });
  return rows;
}

}  // namespace

bool FeatureRow::holdsFor(Target target, const TargetSettings& settings) const {
  if (!targets.has(target)) return false;
  switch (condition) {
    case RowCondition::Always:
      return true;
    case RowCondition::Rewritten:
      return settings.stage != ExportStage::Read;
    case RowCondition::PlusIsMarked:
      return settings.hasPlusMarker;
    case RowCondition::PlusIsNotMarked:
      return !settings.hasPlusMarker;
    case RowCondition::OnlyPlusIsMarked:
      return settings.hasPlusMarker && !settings.hasCrossMarker;
    case RowCondition::NullsAreLeftOut:
      return settings.leavesOutNulls;
    case RowCondition::SentElsewhere:
      return !settings.isSentHere;
    case RowCondition::SentHere:
      return settings.isSentHere;
  }
  return false;
}

const std::vector<FeatureRow>& featureTable() {
  using enum Effect;
  using enum Feature;
  static const std::vector<FeatureRow> otherRows = {
      // Parameters without a value.
      {NumberParameter, kAll, Refused,
       "{{name}} stands where a number belongs and has no number as its value: give it one in the "
       "document's parameters.",
       ""},
      {TextParameter, kAll, Note, "{{name}} has no value and is sent as it stands, braces and all.", ""},

      // Models.
      {NoModel, kForms | kSent, Refused, "A generate names no model.", "{n} generates name no model.",
       RowCondition::SentElsewhere},
      {NoProvider, kForms, Refused,
       "“{name}” has no provider: SPNL expects provider/name, for spans spnl/name.", ""},
      {OtherProvider, kForms, Differs,
       "“{name}” is not of the provider spnl: SPNL sends plain chat there, and plus is read as an ordinary "
       "sequence.",
       ""},
      {SpanProvider,
       {Target::Request},
       Note,
       "The server must serve “{name}”: SPNL leaves “spnl/” out of what it sends, and so does this.",
       ""},
      {SpanProvider,
       {Target::Chat},
       Note,
       "The server must serve “{name}”: the provider is left out of what is sent.",
       ""},
      {OtherProvider,
       {Target::Chat},
       Note,
       "“{name}” is sent without its provider, the word before the first “/”.",
       ""},
      {NoProvider, {Target::Request, Target::Chat}, Note, "The server must serve “{name}”.", ""},

      // The shape of the query.
      {NotAGenerate,
       {Target::Request},
       Refused,
       "The server runs one generate, repeat or map; this query begins with {name}. SPNL runs it from the "
       "JSON.",
       "",
       RowCondition::SentElsewhere},
      {InnerGenerate,
       {Target::Request},
       Refused,
       "A generate stands inside another one: the server runs one at a time and takes the answers of inner "
       "ones as messages. SPNL runs the whole from the JSON.",
       "{n} generates stand inside another one: the server runs one at a time and takes the answers of "
       "inner ones as messages. SPNL runs the whole from the JSON.",
       RowCondition::SentElsewhere},
      {InnerGenerate,
       {Target::Chat},
       Differs,
       "A generate stands inside another one: its reply is not known yet, and a placeholder stands for it "
       "in the outer request. Put the reply there before that is sent.",
       "{n} generates stand inside another one: their replies are not known yet, and placeholders stand "
       "for them in the outer requests. Put the replies there before those are sent.",
       RowCondition::SentElsewhere},
      {SharedPrompt,
       {Target::Chat},
       Differs,
       "The outer request holds the reply of a generate under plus and not its prompt: a span server would "
       "be given both and reuse all that the inner one computed.",
       "The outer requests hold the replies of {n} generates under plus and not their prompts: a span "
       "server would be given both and reuse all that the inner ones computed."},
      {OutsideMessage,
       {Target::Calls, Target::Request, Target::Chat, Target::Tokens},
       Differs,
       "A message stands in no generate: it is part of the answer and is not sent.",
       "{n} messages stand in no generate: they are part of the answer and are not sent."},
      {LostRole, kForms, Differs,
       "Simplify makes a map of generates over system or assistant messages: their role is lost, the "
       "inputs of a map are the user's.",
       "", RowCondition::Rewritten},

      // Joins and messages.
      {Plus, kServer, Note,
       "Reuse under plus in any order needs vLLM with the span patch and VLLM_V1_SPANS_ENABLED; a stock "
       "server does not have this endpoint.",
       ""},
      {Plus,
       {Target::Chat},
       Differs,
       "A plus becomes messages in a row: each reads those before it, their order matters, and a server "
       "reuses them from the front only.",
       "{n} plus become messages in a row: each reads those before it, their order matters, and a server "
       "reuses them from the front only."},
      {Plus,
       {Target::Tokens},
       Differs,
       "Without a plus marker the children of a plus stand in a row like any others: they read each other "
       "and are reused from the front only.",
       "",
       RowCondition::PlusIsNotMarked},
      {Plus,
       {Target::Tokens},
       Note,
       "The server must know the same markers: VLLM_V1_SPANS_TOKEN_PLUS and VLLM_V1_SPANS_TOKEN_CROSS.",
       "",
       RowCondition::PlusIsMarked},
      {Cross,
       {Target::Tokens},
       Differs,
       "Without a cross marker the last child of a cross is not told from the span before it: its blocks "
       "are keyed by that span alone and may be reused where the others differ.",
       "",
       RowCondition::OnlyPlusIsMarked},
      {AssistantMessage, kServer, Differs,
       "An assistant message is cropped by the server: its closing tokens and what does not fill a block "
       "are lost.",
       "{n} assistant messages are cropped by the server: their closing tokens and what does not fill a "
       "block are lost.",
       RowCondition::SentElsewhere},
      {AssistantMessage,
       {Target::Request},
       Differs,
       "vLLM with the span patch crops an assistant message: its closing tokens and what does not fill a "
       "block are lost. Spanscope keeps it.",
       "vLLM with the span patch crops the {n} assistant messages: their closing tokens and what does not "
       "fill a block are lost. Spanscope keeps them.",
       RowCondition::SentHere},
      {AssistantMessage,
       {Target::Tokens},
       Differs,
       "An assistant message is cropped, as span servers do: its closing tokens and what does not fill a "
       "block are lost.",
       "{n} assistant messages are cropped, as span servers do: their closing tokens and what does not fill "
       "a block are lost."},

      // Settings.
      {WrongTemperature, kForms | kServer, Differs,
       "A temperature is below 0 or not finite: what a server makes of it is its own affair.",
       "{n} temperatures are below 0 or not finite: what a server makes of them is its own affair."},
      {NullTemperature,
       {Target::Query, Target::Calls},
       Differs,
       "A temperature is null: SPNL leaves it out where it writes, and reads what is left out as 0.6.",
       "{n} temperatures are null: SPNL leaves them out where it writes, and reads what is left out as 0.6.",
       RowCondition::NullsAreLeftOut},
      {NullMaxTokens,
       {Target::Query, Target::Calls},
       Note,
       "A number of tokens is null: SPNL leaves it out where it writes, and reads what is left out as 0, "
       "which "
       "leaves it to the server.",
       "{n} numbers of tokens are null: SPNL leaves them out where it writes, and reads what is left out as "
       "0, "
       "which leaves it to the server.",
       RowCondition::NullsAreLeftOut},
      {NoTemperature, kForms, Note, "A generate sets no temperature: SPNL takes 0.6.",
       "{n} generates set no temperature: SPNL takes 0.6."},
      {NoTemperature, kSent, Note,
       "A generate sets no temperature: the language's default, 0.6, is written out.",
       "{n} generates set no temperature: the language's default, 0.6, is written out."},
      {NoMaxTokens, kForms, Note,
       "A generate sets no number of tokens: SPNL takes 0, which leaves it to the server.",
       "{n} generates set no number of tokens: SPNL takes 0, which leaves it to the server."},
      {NoMaxTokens, kServer, Note,
       "A generate sets no number of tokens: 0 is written out, which leaves it to the server.",
       "{n} generates set no number of tokens: 0 is written out, which leaves it to the server."},
      {NoMaxTokens,
       {Target::Chat},
       Note,
       "A generate sets no number of tokens, and so does its request: the server's own limit holds.",
       "{n} generates set no number of tokens, and so do their requests: the server's own limit holds."},
  };
  static const std::vector<FeatureRow> table = [] {
    std::vector<FeatureRow> rows = operatorRows();
    rows.insert(rows.end(), otherRows.begin(), otherRows.end());
    return rows;
  }();
  return table;
}

namespace {

using query::Node;

/// The surroundings of a node.
struct Around {
  const query::GenerateSettings* generate = nullptr;  ///< of the generate whose prompt contains the node;
                                                      ///< null outside of generates
  bool isFirst = true;                                ///< the prompt has nothing before it
  bool inPlus = false;                                ///< directly
  bool isDropped = false;                             ///< in a monad: no answer contains it
};

/// The role of the messages that simplify makes the inputs of a map; the user's where it makes none.
query::Role roleOfMap(const query::Join& join) {
  constexpr query::Role kKept = query::Role::User;
  if (join.kind != query::JoinKind::Plus || join.children.size() < 2) return kKept;
  const query::GenerateSettings* first = query::settingsOf(join.children.front());
  if (first == nullptr || !spnl::supportsBulkMap(first->model)) return kKept;
  query::Role role = kKept;
  for (const Node& child : join.children) {
    const auto* generate = child.as<query::Generate>();
    const auto* message = generate == nullptr ? nullptr : generate->input->as<query::Message>();
    if (message == nullptr || generate->settings != *first) return kKept;
    if (&child == &join.children.front()) role = message->role;
    if (message->role != role) return kKept;
  }
  return role;
}

class Finder {
 public:
  void visit(const Node& node, const NodePath& path, const Around& around) {
    if (const query::GenerateSettings* settings = query::settingsOf(node)) {
      visitSettings(*settings, path);
      if (around.generate != nullptr) add(Feature::InnerGenerate, path);
      const bool isShared = around.inPlus && around.generate != nullptr &&
                            query::generateOf(node) != nullptr && settings->model == around.generate->model;
      if (isShared) add(Feature::SharedPrompt, path);
      if (query::infoOf(node).resolvedBy == query::ResolvedBy::Rule) addOperator(node, path);
      visitChildren(node, path, {.generate = settings, .isDropped = around.isDropped});
      return;
    }
    if (const auto* message = node.as<query::Message>()) {
      visitMessage(*message, path, around);
    } else if (const auto* join = node.as<query::Join>()) {
      visitJoin(*join, path, around);
    } else {
      addOperator(node, path);
    }
    Around within = around;
    if (query::infoOf(node).gives == query::Gives::Nothing) within = {.isDropped = true};
    const auto* join = node.as<query::Join>();
    within.inPlus = join != nullptr && join->kind == query::JoinKind::Plus;
    visitChildren(node, path, within);
  }

  void parameters(const Node& root) {
    for (const query::ParameterUse& use : query::findParameters(root)) {
      const bool isText = use.kind == query::ParameterKind::Text;
      add(isText ? Feature::TextParameter : Feature::NumberParameter, use.node, use.name);
    }
  }

  void add(Feature feature, const NodePath& path, const std::string& name = {}) {
    const auto [known, isNew] = m_indices.emplace(std::pair(feature, name), m_found.size());
    if (isNew) m_found.push_back({feature, name, {}});
    m_found[known->second].places.push_back(path);
  }

  std::vector<FoundFeature> take() { return std::move(m_found); }

 private:
  void visitChildren(const Node& node, const NodePath& path, Around around) {
    query::forEachChild(node, [&](const Node& child, const std::string& step) {
      visit(child, path + step, around);
      around.isFirst = false;
    });
  }

  void visitSettings(const query::GenerateSettings& settings, const NodePath& path) {
    if (std::holds_alternative<query::Absent>(settings.temperature)) add(Feature::NoTemperature, path);
    if (std::holds_alternative<query::Absent>(settings.maxTokens)) add(Feature::NoMaxTokens, path);
    if (std::holds_alternative<query::Null>(settings.temperature)) add(Feature::NullTemperature, path);
    if (std::holds_alternative<query::Null>(settings.maxTokens)) add(Feature::NullMaxTokens, path);
    const auto* temperature = std::get_if<float>(&settings.temperature);
    if (temperature != nullptr && (!std::isfinite(*temperature) || *temperature < 0)) {
      add(Feature::WrongTemperature, path);
    }
    if (settings.model.empty()) {
      add(Feature::NoModel, path);
    } else if (spnl::providerOf(settings.model).empty()) {
      add(Feature::NoProvider, path, settings.model);
    } else if (spnl::supportsSpans(settings.model)) {
      add(Feature::SpanProvider, path, std::string(spnl::nameWithoutProvider(settings.model)));
    } else {
      add(Feature::OtherProvider, path, settings.model);
    }
  }

  void visitMessage(const query::Message& message, const NodePath& path, const Around& around) {
    if (message.text.empty()) return;
    if (around.generate == nullptr) {
      if (!around.isDropped) add(Feature::OutsideMessage, path);
    } else if (message.role == query::Role::Assistant) {
      add(Feature::AssistantMessage, path);
    }
  }

  void visitJoin(const query::Join& join, const NodePath& path, const Around& around) {
    const bool isAlone = around.isFirst && join.children.size() < 2;
    if (join.kind == query::JoinKind::Plus && around.generate != nullptr && !isAlone &&
        !join.children.empty()) {
      add(Feature::Plus, path);
    }
    if (join.kind == query::JoinKind::Cross && around.generate != nullptr && join.children.size() > 1) {
      add(Feature::Cross, path);
    }
    if (roleOfMap(join) != query::Role::User) add(Feature::LostRole, path);
  }

  void addOperator(const Node& node, const NodePath& path) {
    add(Feature::Operator, path, query::operatorName(node));
  }

  std::vector<FoundFeature> m_found;
  std::map<std::pair<Feature, std::string>, std::size_t> m_indices;
};

}  // namespace

std::vector<FoundFeature> findFeatures(const Node& query) {
  Finder finder;
  if (query::settingsOf(query) == nullptr) finder.add(Feature::NotAGenerate, {}, query::operatorName(query));
  finder.parameters(query);
  finder.visit(query, {}, {});
  return finder.take();
}

}  // namespace spanscope::exports
