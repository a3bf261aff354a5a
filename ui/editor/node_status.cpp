// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/node_status.h"

#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"
#include "engine/workbench/model_names.h"
#include "ui/session/answer_shares.h"
#include "ui/session/prompt_parts.h"
#include "ui/session/run_history.h"
#include "ui/session/run_list.h"
#include "ui/words/metric_words.h"

#include <algorithm>
#include <cmath>
#include <variant>

namespace spanscope::ui {
namespace {

using document::Document;
using document::kNoNode;
using document::NodeId;
using document::NodePaths;

/// Returns the text of a leaf, which becomes tokens. nullptr: the node has no such text.
const std::string* ownText(const query::Node& node) {
  return query::infoOf(node).gives == query::Gives::Text ? query::textOf(node) : nullptr;
}

std::string firstLine(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

NodePhase phaseOf(const trace::RequestState& request) {
  using trace::RequestPhase;
  switch (request.phase) {
    case RequestPhase::Started:
    case RequestPhase::Waiting:
      return NodePhase::Waiting;
    case RequestPhase::Running:
      return NodePhase::Running;
    case RequestPhase::Finished:
      break;
  }
  if (request.outcome == trace::StepOutcome::Failed) return NodePhase::Failed;
  if (request.outcome == trace::StepOutcome::Stopped) return NodePhase::Stopped;
  return NodePhase::Finished;
}

class StatusBuilder {
 public:
  StatusBuilder(const ViewInput& input, NodeStatusCache& cache)
      : m_input(input), m_cache(cache), m_document(*input.document), m_progress(input.state().progress()) {
    if (m_cache.trace != input.trace.get()) m_cache.queries.clear();
    m_cache.trace = input.trace.get();
    m_cache.counts = countsOf(input.tokenizer, input.tokenCounts ? input.tokenCounts : m_cache.counts);
  }

  NodeStatuses build(const std::vector<NodeId>& nodes) {
    for (const NodeId id : nodes) {
      const query::Node& own = m_document.at(id).own;
      if (ownText(own) != nullptr || query::isSugar(own)) m_leavesLeft.insert(id);
      if (query::answers(own)) m_answersLeft.insert(id);
      if (query::documentOf(own) != nullptr) m_augmentsLeft.insert(id);
    }
    for (auto run = m_input.paths.rbegin(); run != m_input.paths.rend(); ++run) {
      if (m_leavesLeft.empty() && m_answersLeft.empty() && m_augmentsLeft.empty()) break;
      const auto state = m_progress.runs.find(run->first);
      if (state != m_progress.runs.end()) takeRun(run->first, state->second, run->second);
    }
    countTheRest();
    takeShares(nodes);
    return std::move(m_result);
  }

 private:
  void takeRun(RunId id, const trace::RunState& run, const NodePaths& paths) {
    std::set<NodeId> answered;
    m_steps.clear();
    for (const RequestId request : run.requests) {
      const auto found = m_progress.requests.find(request);
      if (found != m_progress.requests.end()) m_steps.insert(found->second.node);
    }
    // Another model splits the texts into other tokens.
    const bool isOfModel = otherModelOf(id).empty();
    for (auto request = run.requests.rbegin(); request != run.requests.rend(); ++request) {
      const auto found = m_progress.requests.find(*request);
      if (found == m_progress.requests.end()) continue;
      takeAnswer(found->first, found->second, paths, answered);
      if (isOfModel) takeLeaves(id, found->first, found->second, paths);
    }
    takePassages(run, paths);
    if (!run.outcome) {
      for (const trace::PlannedStep& step : run.plan->steps) {
        const NodeId node = paths.nodeOf(step.node);
        if (m_answersLeft.count(node) == 0 || answered.count(node) != 0) continue;
        m_waiting.insert(node);  // an older run can have the last answer of the node
      }
    }
    for (const NodeId node : answered) {
      m_answersLeft.erase(node);
      if (m_waiting.count(node) != 0) m_result[node].phase = NodePhase::Waiting;
    }
  }

  void takePassages(const trace::RunState& run, const NodePaths& paths) {
    for (const auto& [path, retrieved] : run.retrieved) {
      const NodeId node = paths.nodeOf(path);
      if (m_augmentsLeft.erase(node) == 0) continue;
      NodeStatus& status = m_result[node];
      const std::vector<trace::PassageInfo>& all = retrieved->passages;
      status.passages = static_cast<std::int32_t>(
          std::count_if(all.begin(), all.end(), [](const auto& passage) { return passage.inPrompt; }));
      const auto first =
          std::find_if(all.begin(), all.end(), [](const auto& passage) { return passage.rank == 1; });
      status.bestScore = first == all.end() ? 0 : first->score;
    }
  }

  void takeAnswer(RequestId id, const trace::RequestState& request, const NodePaths& paths,
                  std::set<NodeId>& answered) {
    const NodeId node = paths.nodeOf(request.node);
    if (m_answersLeft.count(node) == 0) return;
    NodeStatus& status = m_result[node];
    const bool first = answered.insert(node).second;
    const bool chosen = m_input.selection.request == id;
    status.copies = std::max(status.copies, request.copy + 1);
    if (!first && !chosen) return;
    status.request = id;
    status.copy = request.copy;
    status.step = stepName(request);
    status.phase = phaseOf(request);
    // A prediction has no running nodes.
    if (isPredicted(*m_input.trace) && status.phase != NodePhase::Failed) status.phase = NodePhase::None;
    status.answer = request.text;
    status.generated = request.generatedTokens;
    status.hasBegun = request.firstTokenAt >= 0;
    status.failure = status.phase == NodePhase::Failed ? failureOf(id, request.run) : std::string();
    status.advice = adviceOf(request.run);
    status.answeredBy = otherAnswerer(request, node);
    status.fromTrace = request.promptTokens > 0;
    status.tokens = request.promptTokens > 0 ? request.promptTokens : -1;
    RequestAccount account(m_input, id);
    status.served = account.prompt();
    status.beside = account.beside();
    if (isInParts(request)) {
      const metrics::PromptAccount done = account.done();
      status.served = done.prompt;
      status.unread = done.unread;
    }
    if (request.reported && !request.reported->isCachedKnown()) status.served = {};
    if (request.admittedAt >= 0) {
      if (status.served.total() > 0) status.tokens = status.served.total() + status.unread;
      status.read = readTokens(request);
    }
  }

  QString stepName(const trace::RequestState& request) {
    const auto [names, isNew] = m_stepNames.try_emplace(request.run);
    if (isNew) names->second = stepNames(m_input, m_progress, request.run);
    const auto found = names->second.find(request.step);
    return found == names->second.end() ? QString() : found->second;
  }

  /// Whether a step can end before its whole prompt was computed. Then misses are not always computed tokens.
  static bool isInParts(const trace::RequestState& request) {
    return !request.outcome || *request.outcome == trace::StepOutcome::Stopped ||
           *request.outcome == trace::StepOutcome::Failed;
  }

  /// Returns the record of a run. Null: there is only its trace.
  const RunRecord* recordOf(RunId run) const {
    if (!m_input.records) return nullptr;
    const auto found = std::lower_bound(m_input.records->begin(), m_input.records->end(), run,
                                        [](const auto& record, RunId id) { return record->run < id; });
    return found == m_input.records->end() || (*found)->run != run ? nullptr : found->get();
  }

  /// Returns the name of the model of the run, if the document now has another model. Otherwise empty.
  std::string otherModelOf(RunId run) {
    const RunRecord* const record = recordOf(run);
    if (record == nullptr || !record->hasSettings) return {};
    const document::RunSettings& now = m_document.settings;
    if (record->settings.model == now.model && record->settings.adapter == now.adapter) return {};
    if (!m_model) m_model = workbench::modelNameOf(now);
    const std::string model = record->model.toStdString();
    return model == *m_model ? std::string() : model;
  }

  /// Returns the value of NodeStatus::answeredBy.
  std::string otherAnswerer(const trace::RequestState& request, NodeId node) {
    const std::string& own = m_document.at(node).server;
    std::string server = own.empty() ? m_document.settings.server : own;
    if (server == document::kEmbedded) server.clear();
    if (isPredicted(*m_input.trace)) return {};
    if (request.reported)
      return request.reported->server == server ? std::string() : request.reported->server;
    const RunRecord* const record = recordOf(request.run);
    if (!server.empty() && record != nullptr) return record->model.toStdString();
    return otherModelOf(request.run);
  }

  std::string adviceOf(RunId run) const {
    return warningsOf(*m_input.trace, m_input.position, run).join(QLatin1Char('\n')).toStdString();
  }

  std::string failureOf(RequestId id, RunId run) const {
    const auto& messages = m_input.trace->indicesOf<trace::MessageLogged>();
    std::string ofRun;
    for (auto index = messages.rbegin(); index != messages.rend(); ++index) {
      if (*index >= m_input.position) continue;
      const trace::Event& event = m_input.trace->event(*index);
      const auto* message = std::get_if<trace::MessageLogged>(&event.payload);
      if (message == nullptr || message->severity != Severity::Error || event.run != run) continue;
      if (event.request == id) return firstLine(message->text);
      if (ofRun.empty()) ofRun = firstLine(message->text);
    }
    return ofRun;
  }

  void takeLeaves(RunId run, RequestId id, const trace::RequestState& request, const NodePaths& paths) {
    // A prompt can contain a leaf several times (inner prompts of several answers). The first place counts.
    // `here` has, by leaf, the place after its last token so far.
    std::map<NodeId, std::int64_t> here;
    std::map<NodeId, std::int64_t> outer;  // the same for leaves of subqueries
    RequestAccount account(m_input, id);
    std::int64_t place = 0;
    for (std::uint32_t index = 0; index < request.segments.size(); ++index) {
      const trace::SegmentInfo& segment = request.segments[index];
      std::int64_t begin = 0;
      for (const trace::TokenRunInfo& tokens : segment.runs) {
        const std::int64_t first = std::max<std::int64_t>(begin, segment.visibleBegin);
        begin += tokens.count;
        if (segment.hidden || first >= begin) continue;
        const std::int64_t from = place;
        place += begin - first;
        const auto found = paths.byPath.find(tokens.node);
        if (found == paths.byPath.end() || m_leavesLeft.count(found->second) == 0) continue;
        const NodeId node = found->second;
        const auto taken = here.find(node);
        if (taken != here.end() && taken->second != from) continue;
        NodeStatus& status = m_result[node];
        if (taken == here.end() && !isTextOfRun(run, tokens.node, node)) {
          // An older run can have the same text, but its shares would be beside those of a newer run.
          status.hasOtherText = true;
          continue;
        }
        if (!isOwnStep(m_steps, request.node, tokens.node)) {
          // The own step of the leaf comes later in this order. The own step reports how the leaf was
          // computed.
          const auto before = outer.find(node);
          const bool isFirst = before == outer.end() || before->second == from;
          if (isFirst) outer[node] = place;
          if (isFirst && request.admittedAt >= 0 && !status.hasOtherText &&
              m_outerOf.try_emplace(node, id).first->second == id)
            status.outer += account.of(index, first, begin);
          continue;
        }
        if (taken == here.end()) status.tokens = 0;
        here[node] = place;
        status.fromTrace = true;
        status.tokens += begin - first;
        if (request.admittedAt < 0 || status.hasOtherText) continue;
        if (taken == here.end()) status.served.cropped = account.cropped(tokens.node);
        status.served += account.of(index, first, begin);
        if (isInParts(request)) {
          const std::int64_t unread = account.unread(index, first, begin);
          status.unread += unread;
          status.served.computed -= unread;
        }
      }
    }
    for (const auto& [node, taken] : here) m_leavesLeft.erase(node);
  }

  /// Whether the run had the text that the document has now. In a run, texts contain values of parameters,
  /// and questions and files are replaced by texts. Such a text is identified by its place.
  bool isTextOfRun(RunId run, const NodePath& path, NodeId node) {
    if (query::isSugar(m_document.at(node).own)) return true;
    const std::string& now = *ownText(m_document.at(node).own);
    if ((!m_document.parameters.empty() || !m_document.declarations.empty()) &&
        now.find('{') != std::string::npos)
      return true;
    auto read = m_cache.queries.find(run);
    if (read == m_cache.queries.end()) {
      read = m_cache.queries.emplace(run, query::parseJson(*m_progress.runs.at(run).queryJson).query).first;
    }
    if (!read->second) return true;
    const query::Node* then = query::nodeAt(*read->second, path);
    const std::string* text = then == nullptr ? nullptr : ownText(*then);
    return text == nullptr || *text == now;
  }

  /// Reads the attention shares of the shown answer. A leaf in a section with other leaves has no share.
  void takeShares(const std::vector<NodeId>& nodes) {
    const std::shared_ptr<const AnswerShares> shares = answerShares(m_input, m_input.shownRequest());
    const auto paths = m_input.paths.find(shares->run);
    if (shares->isEmpty() || paths == m_input.paths.end()) return;
    for (std::size_t part = 0; part < shares->parts.size(); ++part) {
      const double share = shares->share(part);
      if (share < 0) continue;
      const NodePath& path = shares->parts.info(part).node;
      const NodeId node = paths->second.nodeOf(path);
      if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) continue;
      const query::Node& own = m_document.at(node).own;
      const bool isText = ownText(own) != nullptr || query::isSugar(own);
      if (isText && !isTextOfRun(shares->run, path, node)) continue;
      NodeStatus& status = m_result[node];
      // A document can be in a prompt several times.
      status.looked = std::max(0.0, status.looked) + share;
    }
  }

  void countTheRest() {
    for (const NodeId node : m_answersLeft) {
      if (m_waiting.count(node) != 0) m_result[node].phase = NodePhase::Waiting;
    }
    if (!m_input.tokenizer) return;
    for (const NodeId node : m_leavesLeft) {
      if (query::isSugar(m_document.at(node).own)) continue;
      const std::string& text = *ownText(m_document.at(node).own);
      m_result[node].tokens = m_cache.counts->count(text).value_or(-1);
    }
  }

  const ViewInput& m_input;
  NodeStatusCache& m_cache;
  const Document& m_document;
  const trace::Progress& m_progress;
  std::set<NodeId> m_leavesLeft;    ///< messages, questions and files that no request has shown yet
  std::set<NodeId> m_answersLeft;   ///< generate nodes without a request yet
  std::set<NodeId> m_augmentsLeft;  ///< augments for which no run has retrieved yet
  std::set<NodeId> m_waiting;
  std::map<RunId, std::map<StepIndex, QString>> m_stepNames;  ///< names by run
  std::set<NodePath> m_steps;                                 ///< steps of the run that is being read
  std::map<NodeId, RequestId> m_outerOf;                      ///< by leaf: the request of NodeStatus::outer
  std::optional<std::string> m_model;  ///< name of the document's model; nothing: not read yet
  NodeStatuses m_result;
};

}  // namespace

bool isOwnStep(const std::set<NodePath>& steps, const NodePath& step, const NodePath& place) {
  const auto holds = [&place](const NodePath& node) {
    return place.size() > node.size() && place.starts_with(node) && place[node.size()] == '/';
  };
  std::size_t length = 0;
  for (const NodePath& node : steps) {
    if (holds(node)) length = std::max(length, node.size());
  }
  return length == 0 || (holds(step) && step.size() == length);
}

metrics::Totals NodeStatus::totals() const {
  return {.account = PromptAccount{.prompt = served, .unread = unread, .beside = beside}};
}

QString NodeStatus::cachedShare() const {
  return served.total() <= 0 ? QString() : metricText("hit-rate", totals());
}

NodeStatuses nodeStatuses(const ViewInput& input, NodeStatusCache& cache) {
  return StatusBuilder(input, cache).build(input.document->ids());
}

NodeStatuses nodeStatuses(const ViewInput& input, NodeStatusCache& cache, const std::vector<NodeId>& nodes) {
  return StatusBuilder(input, cache).build(nodes);
}

NodeStatuses nodeStatuses(const ViewInput& input) {
  NodeStatusCache cache;
  return nodeStatuses(input, cache);
}

std::map<std::uint32_t, RequestId> requestsOfNode(const ViewInput& input, NodeId node) {
  const trace::Progress& progress = input.state().progress();
  std::map<std::uint32_t, RequestId> requests;
  for (auto run = input.paths.rbegin(); run != input.paths.rend() && requests.empty(); ++run) {
    const auto state = progress.runs.find(run->first);
    if (state == progress.runs.end()) continue;
    for (const RequestId id : state->second.requests) {
      const auto request = progress.requests.find(id);
      if (request == progress.requests.end() || run->second.nodeOf(request->second.node) != node) continue;
      requests[request->second.copy] = id;
    }
  }
  return requests;
}

}  // namespace spanscope::ui
