// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/export/feature_table.h"

#include "engine/base/problem_sentence.h"
#include "engine/export/chat_requests.h"
#include "engine/query/node_parts.h"
#include "engine/query/parameters.h"
#include "engine/query/query_form.h"
#include "engine/query/visit_fields.h"
#include "engine/spnl/request_text.h"

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

/// Adds the remarks that depend on the properties of an operator.
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
    // An operator with one answer per copy or input differs. Other operators are only expanded before
    // sending.
    add({Target::Chat}, info.gives == query::Gives::Answer ? Effect::Differs : Effect::Note, info.elsewhere);
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
       /*id:name-stands-where*/
       "{{name}} is in the place of a number, but its value is not a number. Set a number in the document's "
       "parameters.",
       ""},
      {TextParameter, kAll, Note, "{{name}} has no value and is sent unchanged, with its braces.", ""},

      // Models.
      {NoModel, kForms | kSent, Refused, "A generate node names no model.",
       "{n} generate nodes name no model.", RowCondition::SentElsewhere},
      {NoProvider, kForms, Refused,
       "“{name}” has no provider. SPNL expects provider/name, and spnl/name for spans.", ""},
      {OtherProvider, kForms, Differs,
       "“{name}” does not have the provider spnl. SPNL sends a plain chat, and plus becomes an ordinary "
       "sequence.",
       ""},
      {SpanProvider,
       {Target::Request},
       Note,
       "The server must serve “{name}”. Like SPNL, this request omits “spnl/”.",
       ""},
      {SpanProvider,
       {Target::Chat},
       Note,
       "The server must serve “{name}”. The request omits the provider.",
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
       "The server runs one generate, repeat or map node, but this query begins with {name}. SPNL can run "
       "the query from the JSON.",
       "",
       RowCondition::SentElsewhere},
      {InnerGenerate,
       {Target::Request},
       Refused,
       /*id:inner-generate-request*/
       "A generate node is inside another generate node. The server runs one node at a time and gets the "
       "answers of subqueries as messages. SPNL can run the query from the JSON.",
       "{n} generate nodes are inside another generate node. The server runs one node at a time and gets the "
       "answers of subqueries as messages. SPNL can run the query from the JSON.",
       RowCondition::SentElsewhere},
      {InnerGenerate,
       {Target::Chat},
       Differs,
       /*id:inner-generate-chat*/
       "A generate node is inside another generate node. The answer of the subquery is not known yet, so the "
       "outer request has a placeholder. Replace the placeholder before you send the request.",
       "{n} generate nodes are inside another generate node. The answers of the subqueries are not known "
       "yet, so the outer requests have placeholders. Replace the placeholders before you send the requests.",
       RowCondition::SentElsewhere},
      {SharedPrompt,
       {Target::Chat},
       Differs,
       /*id:shared-prompt*/
       "The outer request has the answer of a generate node under plus, but not its prompt. A server with "
       "span support gets and reuses prompt and answer.",
       "The outer requests have the answers of {n} generate nodes under plus, but not their prompts. A "
       "server with span support gets and reuses prompts and answers."},
      {OutsideMessage,
       {Target::Calls, Target::Request, Target::Chat, Target::Tokens},
       Differs,
       /*id:message-stands-no*/
       "A message outside of every generate node is a part of the result and is not sent.",
       "{n} messages outside of every generate node are a part of the result and are not sent."},
      {LostRole, kForms, Differs,
       /*id:simplify-makes-map*/
       "Simplify turns generate nodes over system or assistant messages into a map. The inputs of a map are "
       "user messages, so the role is lost.",
       "", RowCondition::Rewritten},

      // Joins and messages.
      {Plus, kServer, Note,
       "Reuse under plus in any order needs vLLM with the span patch and VLLM_V1_SPANS_ENABLED. A stock "
       "server does not have this endpoint.",
       ""},
      {Plus,
       {Target::Chat},
       Differs,
       /*id:plus-in-a-row*/
       "A plus becomes consecutive messages. Each message attends to earlier messages, and the order "
       "matters. A server reuses only the common prefix.",
       "{n} plus nodes become consecutive messages. Each message attends to earlier messages, and the order "
       "matters. A server reuses only the common prefix."},
      {Plus,
       {Target::Tokens},
       Differs,
       /*id:without-plus-marker*/
       "Without a plus delimiter, the children of a plus are ordinary consecutive messages. These messages "
       "attend to earlier messages, and only the common prefix is reused.",
       "",
       RowCondition::PlusIsNotMarked},
      {Plus,
       {Target::Tokens},
       Note,
       "The server must use the same delimiters: VLLM_V1_SPANS_TOKEN_PLUS and VLLM_V1_SPANS_TOKEN_CROSS.",
       "",
       RowCondition::PlusIsMarked},
      {Cross,
       {Target::Tokens},
       Differs,
       /*id:without-cross-marker*/
       "Without a cross delimiter, the last child of a cross belongs to the span before it. The block keys "
       "of this child then depend only on that span. The server can reuse its blocks after other spans.",
       "",
       RowCondition::OnlyPlusIsMarked},
      {AssistantMessage, kServer, Differs,
       "The server truncates an assistant message. The message loses its closing tokens and its partial "
       "block.",
       "The server truncates {n} assistant messages. The messages lose their closing tokens and partial "
       "blocks.",
       RowCondition::SentElsewhere},
      {AssistantMessage,
       {Target::Request},
       Differs,
       "vLLM with the span patch truncates an assistant message. The message loses its closing tokens and "
       "its partial block. Spanscope keeps these tokens.",
       "vLLM with the span patch truncates the {n} assistant messages. The messages lose their closing "
       "tokens and partial blocks. Spanscope keeps these tokens.",
       RowCondition::SentHere},
      {AssistantMessage,
       {Target::Tokens},
       Differs,
       "An assistant message is truncated, as on servers with span support. The message loses its closing "
       "tokens and its partial block.",
       "{n} assistant messages are truncated, as on servers with span support. The messages lose their "
       "closing tokens and partial blocks."},

      // Settings.
      {WrongTemperature, kForms | kServer, Differs,
       "A temperature is below 0 or not finite. The result depends on the server.",
       "{n} temperatures are below 0 or not finite. The result depends on the server."},
      {NullTemperature,
       {Target::Query, Target::Calls},
       Differs,
       /*id:temperature-null-spnl*/
       "A temperature is null. SPNL omits the null, and reads a missing temperature as 0.6.",
       "{n} temperatures are null. SPNL omits each null, and reads a missing temperature as 0.6.",
       RowCondition::NullsAreLeftOut},
      {NullMaxTokens,
       {Target::Query, Target::Calls},
       Note,
       /*id:number-tokens-null*/
       "Max tokens is null in a generate node. SPNL omits the null and reads a missing value as 0. The "
       "server then chooses a limit.",
       "Max tokens is null in {n} generate nodes. SPNL omits each null and reads a missing value as 0. The "
       "server then chooses a limit.",
       RowCondition::NullsAreLeftOut},
      {NoTemperature, kForms, Note, "A generate node has no temperature. SPNL uses 0.6.",
       "{n} generate nodes have no temperature. SPNL uses 0.6."},
      {NoTemperature, kSent, Note, "A generate node has no temperature. The output has SPNL's default, 0.6.",
       "{n} generate nodes have no temperature. The output has SPNL's default, 0.6."},
      {NoMaxTokens, kForms, Note,
       "A generate node has no max tokens. SPNL sends 0, and the server chooses a limit.",
       "{n} generate nodes have no max tokens. SPNL sends 0, and the server chooses a limit."},
      {NoMaxTokens, kServer, Note,
       "A generate node has no max tokens. The output has 0, and the server chooses a limit.",
       "{n} generate nodes have no max tokens. The output has 0, and the server chooses a limit."},
      {NoMaxTokens,
       {Target::Chat},
       Note,
       "A generate node has no max tokens, so the request has none. The server uses its own limit.",
       "{n} generate nodes have no max tokens, so the requests have none. The server uses its own limit."},
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
  const query::GenerateSettings* generate = nullptr;  ///< settings of the generate node whose prompt contains
                                                      ///< this node; null: no such generate node
  bool isFirst = true;                                ///< the prompt has nothing before it
  bool inPlus = false;                                ///< the parent is a plus
  bool isDropped = false;  ///< the node is in a monad: no answer contains this node
};

/// The role of the messages of a plus that `simplify` rewrites as a map. For any other join, the role of the
/// user.
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

namespace {

void replaceAll(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

std::string sentence(const FeatureRow& row, const FoundFeature& found) {
  const std::size_t count = found.places.size();
  std::string text(count == 1 || row.many.empty() ? row.one : row.many);
  replaceAll(text, "{n}", std::to_string(count));
  // The name comes last, because it may contain any character.
  replaceAll(text, "{name}", found.name);
  return text;
}

class Remarks {
 public:
  void add(Effect effect, std::string text, std::vector<NodePath> places = {}) {
    m_remarks.push_back({effect, std::move(text), std::move(places)});
  }

  bool isRefused() const {
    return std::ranges::any_of(m_remarks,
                               [](const TargetRemark& remark) { return remark.effect == Effect::Refused; });
  }

  std::vector<TargetRemark> take() {
    std::ranges::stable_sort(
        m_remarks, [](const TargetRemark& a, const TargetRemark& b) { return a.effect < b.effect; });
    return std::move(m_remarks);
  }

 private:
  std::vector<TargetRemark> m_remarks;
};

/// Adds remarks about texts that IBM/spnl would read differently.
void addForm(Remarks& remarks, const query::Node& query, query::QueryForm form) {
  for (const query::Diagnostic& diagnostic : query::formRemarks(query, form)) {
    remarks.add(Effect::Refused, diagnostic.message(), {diagnostic.pointer});
  }
}

/// Lists the calls that cannot be sent yet. These calls are no refusal if other calls can be sent.
void addWithheld(Remarks& remarks, const query::Node& query) {
  if (spnl::isServerBody(query)) return;
  const spnl::ServerBodies calls = spnl::serverBodies(query);
  const Effect effect = calls.bodies.empty() ? Effect::Refused : Effect::Differs;
  for (const spnl::Withheld& withheld : calls.withheld) {
    const query::Node* node = query::nodeAt(query, withheld.node);
    const bool isGenerate = node == nullptr || node->as<query::Generate>() != nullptr;
    const std::string name = isGenerate ? "generate" : query::operatorName(*node);
    remarks.add(effect, /*id:call-withheld*/ "The output does not contain this " + name + ": " +
                            withheld.reason + ".",
                {withheld.node});
  }
  if (calls.bodies.empty() && calls.withheld.empty()) {
    remarks.add(Effect::Refused,
                /*id:no-generate-repeat*/ "There is no generate, repeat or map node to send.", {NodePath()});
  }
}

/// Adds remarks about the messages of the requests. Servers render these messages with the model's own
/// template. Many templates are strict about roles.
void addChatOrder(Remarks& remarks, const std::vector<ChatRequest>& requests) {
  std::vector<NodePath> empty;
  std::vector<NodePath> lateSystem;
  std::vector<NodePath> repeated;
  for (const ChatRequest& request : requests) {
    if (request.messages.empty()) empty.push_back(request.node);
    for (std::size_t i = 1; i < request.messages.size(); ++i) {
      const ChatMessage& message = request.messages[i];
      if (message.role == query::Role::System) lateSystem.push_back(message.node);
      if (message.role == request.messages[i - 1].role) repeated.push_back(message.node);
    }
  }
  const auto add = [&remarks](Effect effect, const char* text, std::vector<NodePath>& places) {
    // All copies of a repeat have the same nodes.
    std::vector<NodePath> once;
    for (NodePath& place : places) {
      if (std::ranges::find(once, place) == once.end()) once.push_back(std::move(place));
    }
    if (!once.empty()) remarks.add(effect, text, std::move(once));
  };
  add(Effect::Refused, "A request has no message. Chat completions need at least one message.", empty);
  add(Effect::Note, /*id:system-message-not*/
      "A system message is not the first message. The chat templates of some models refuse this.",
      lateSystem);
  add(Effect::Note,
      "Two consecutive messages have the same role. The chat templates of some models refuse this. Other "
      "templates join the messages.",
      repeated);
}

void addChat(Remarks& remarks, const query::Node& query) {
  // One refusal of a query is enough.
  if (remarks.isRefused()) return;
  const ChatRequests made = chatRequests(query);
  for (const Error& problem : made.problems) {
    remarks.add(Effect::Refused, problemSentence(problem.found, problem.expected), {problem.place});
  }
  if (made.requests.size() > 1) {
    remarks.add(Effect::Note,
                "The query becomes " + std::to_string(made.requests.size()) +
                    " requests, one on each line. You can send these requests in this order.",
                {NodePath()});
  }
  addChatOrder(remarks, made.requests);
}

/// Adds such remarks about calls that this program sends one after the other.
void addCalls(Remarks& remarks, const query::Node& query) {
  if (remarks.isRefused()) return;
  const QueryCalls made = queryCalls(query);
  for (const Error& problem : made.problems) {
    remarks.add(Effect::Refused, problemSentence(problem.found, problem.expected), {problem.place});
  }
  std::vector<NodePath> empty;
  for (const QueryCall& call : made.calls) {
    const ChatRequest& request = made.requests[call.first];
    if (request.messages.empty()) empty.push_back(request.node);
  }
  if (!empty.empty())
    remarks.add(Effect::Refused, "A call has no message. A server with span support needs a prompt.", empty);
}

}  // namespace

std::vector<TargetRemark> targetRemarks(const query::Node& query, Target target,
                                        const TargetSettings& settings) {
  Remarks remarks;
  for (const FoundFeature& found : findFeatures(query)) {
    for (const FeatureRow& row : featureTable()) {
      const bool isMeant = row.name.empty() || row.name == found.name;
      if (row.feature == found.feature && isMeant && row.holdsFor(target, settings)) {
        remarks.add(row.effect, sentence(row, found), found.places);
      }
    }
  }
  if (target == Target::Yaml) addForm(remarks, query, query::QueryForm::Yaml);
  if (target == Target::Lisp) addForm(remarks, query, query::QueryForm::Lisp);
  if (target == Target::Calls || target == Target::Tokens) addWithheld(remarks, query);
  if (target == Target::Chat) addChat(remarks, query);
  if (target == Target::Request && settings.isSentHere) addCalls(remarks, query);
  return remarks.take();
}

}  // namespace spanscope::exports
