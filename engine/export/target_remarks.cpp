// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/export/target_remarks.h"

#include "engine/export/chat_requests.h"
#include "engine/export/feature_table.h"
#include "engine/export/query_calls.h"
#include "engine/query/query_form.h"
#include "engine/spnl/server_body.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace spanscope::exports {
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
    return std::any_of(m_remarks.begin(), m_remarks.end(),
                       [](const TargetRemark& remark) { return remark.effect == Effect::Refused; });
  }

  std::vector<TargetRemark> take() {
    std::stable_sort(m_remarks.begin(), m_remarks.end(),
                     [](const TargetRemark& a, const TargetRemark& b) { return a.effect < b.effect; });
    return std::move(m_remarks);
  }

 private:
  std::vector<TargetRemark> m_remarks;
};

/// Adds parts of the form that IBM/spnl would read differently.
void addForm(Remarks& remarks, const query::Node& query, query::QueryForm form) {
  for (const query::Diagnostic& diagnostic : query::formRemarks(query, form)) {
    remarks.add(Effect::Refused, diagnostic.message(), {diagnostic.pointer});
  }
}

/// Lists the calls that cannot be sent yet. This is no refusal as long as other calls can be sent.
void addWithheld(Remarks& remarks, const query::Node& query) {
  if (spnl::isServerBody(query)) return;
  const spnl::ServerBodies calls = spnl::serverBodies(query);
  const Effect effect = calls.bodies.empty() ? Effect::Refused : Effect::Differs;
  for (const spnl::Withheld& withheld : calls.withheld) {
    const query::Node* node = query::nodeAt(query, withheld.node);
    const bool isGenerate = node == nullptr || node->as<query::Generate>() != nullptr;
    const std::string name = isGenerate ? "generate" : query::operatorName(*node);
    remarks.add(effect, "This " + name + " is not written: " + withheld.reason + ".", {withheld.node});
  }
  if (calls.bodies.empty() && calls.withheld.empty()) {
    remarks.add(Effect::Refused, "There is no generate, repeat or map to send.", {NodePath()});
  }
}

/// Adds remarks about the messages of the requests. Servers render them with the model's own template. Many
/// templates are strict about roles.
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
    // The copies of a repeat are about the same nodes.
    std::vector<NodePath> once;
    for (NodePath& place : places) {
      if (std::find(once.begin(), once.end(), place) == once.end()) once.push_back(std::move(place));
    }
    if (!once.empty()) remarks.add(effect, text, std::move(once));
  };
  add(Effect::Refused, "A request has no message. Chat completions need at least one.", empty);
  add(Effect::Note,
      "A system message is not the first message. The chat templates of some models refuse this.",
      lateSystem);
  add(Effect::Note,
      "Two messages in a row have the same role. The chat templates of some models refuse this, others join "
      "them.",
      repeated);
}

void addChat(Remarks& remarks, const query::Node& query) {
  // A refused query needs no second refusal.
  if (remarks.isRefused()) return;
  const ChatRequests made = chatRequests(query);
  for (const Error& problem : made.problems) {
    remarks.add(Effect::Refused, "found " + problem.found + ", expected " + problem.expected,
                {problem.place});
  }
  if (made.requests.size() > 1) {
    remarks.add(Effect::Note,
                "The query becomes " + std::to_string(made.requests.size()) +
                    " requests, one a line, in an order in which they can be sent.",
                {NodePath()});
  }
  addChatOrder(remarks, made.requests);
}

/// Does the same for calls that this program sends one after the other.
void addCalls(Remarks& remarks, const query::Node& query) {
  if (remarks.isRefused()) return;
  const QueryCalls made = queryCalls(query);
  for (const Error& problem : made.problems) {
    remarks.add(Effect::Refused, "found " + problem.found + ", expected " + problem.expected,
                {problem.place});
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
