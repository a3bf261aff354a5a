// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/node_prediction.h"

#include "engine/query/node_parts.h"
#include "ui/words/metric_words.h"
#include "ui/words/part_text.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace spanscope::ui {

namespace {

using document::Document;
using document::NodeId;

bool isLeaf(const query::Node& own) {
  return query::infoOf(own).gives == query::Gives::Text || query::isSugar(own);
}

class Reader {
 public:
  Reader(const DocumentPrediction& prediction, const Document& document)
      : m_prediction(prediction), m_document(document) {}

  NodePredictions read() {
    const std::vector<run::StepPrediction>& steps = m_prediction.present.steps;
    std::map<StepIndex, const run::StepPrediction*> byStep;
    for (const run::StepPrediction& step : steps) byStep[step.step] = &step;
    if (m_prediction.plan) {
      for (const plan::Step& step : m_prediction.plan->steps) m_steps.insert(step.node);
    }
    // Steps are read from the last to the first, because the last copy of a leaf's own step counts.
    const std::vector<StepIndex>& order = m_prediction.present.order;
    for (auto step = order.rbegin(); step != order.rend(); ++step) {
      const auto found = byStep.find(*step);
      if (found == byStep.end()) continue;
      takeStep(*found->second);
      takeLeaves(*found->second);
    }
    return std::move(m_result);
  }

  /// Returns the token counts of texts in prompts that do not fit. Call read() first.
  std::map<NodeId, std::int64_t> readUnfit() {
    std::map<NodeId, std::int64_t> tokens;
    for (auto prompt = m_prediction.unfit.rbegin(); prompt != m_prediction.unfit.rend(); ++prompt) {
      for (const auto& [node, ranges] : leavesOf(prompt->first, prompt->second)) {
        m_leaves.insert(node);
        for (const trace::PartRange& range : ranges) tokens[node] += range.end - range.begin;
      }
    }
    return tokens;
  }

 private:
  void takeStep(const run::StepPrediction& step) {
    const plan::Step& planned = m_prediction.plan->steps[step.step];
    const NodeId node = m_prediction.paths.nodeOf(planned.node);
    if (!m_document.contains(node)) return;
    std::vector<NodePrediction>& copies = m_result[node];
    if (copies.size() <= planned.copy) copies.resize(planned.copy + 1);
    const auto isFound = [](const trace::BlockLookedUp& block) {
      return block.outcome == trace::LookupOutcome::Hit || block.outcome == trace::LookupOutcome::Relocated;
    };
    NodePrediction& own = copies[planned.copy];
    own = {run::accountOf(step, m_prediction.blockSize)};
    own.blocks = static_cast<std::int64_t>(step.blocks.size());
    own.foundBlocks = std::count_if(step.blocks.begin(), step.blocks.end(), isFound);
    own.isCertain = step.doubt == run::Doubt::None;
  }

  void takeLeaves(const run::StepPrediction& step) {
    const metrics::RequestTokens tokens = run::tokensOf(step, m_prediction.blockSize);
    for (const auto& [node, ranges] : leavesOf(step.step, step.table)) {
      m_leaves.insert(node);
      NodePrediction leaf{run::accountOf(step, tokens, ranges)};
      leaf.isCertain = step.doubt == run::Doubt::None;
      m_result[node].assign(1, leaf);
    }
  }

  /// Returns the places of leaves in the prompt of a step, without leaves that a later prompt has shown.
  std::map<NodeId, std::vector<trace::PartRange>> leavesOf(StepIndex step,
                                                           const layout::SpanTable& table) const {
    // A prompt can contain a leaf several times (inner prompts of several answers). The first place counts.
    // `here` has, by leaf, the place after its last token so far. A policy can cut a leaf into several
    // segments.
    std::map<NodeId, std::int64_t> here;
    std::map<NodeId, std::vector<trace::PartRange>> shown;
    std::int64_t place = 0;
    for (std::size_t index = 0; index < table.segments.size(); ++index) {
      const layout::Segment& segment = table.segments[index];
      std::int64_t begin = 0;
      for (const layout::TokenRun& run : segment.runs) {
        const std::int64_t first = std::max<std::int64_t>(begin, segment.visibleBegin);
        begin += run.count;
        if (segment.hidden || first >= begin) continue;
        const std::int64_t from = place;
        place += begin - first;
        const auto path = m_prediction.paths.byPath.find(run.node);
        if (path == m_prediction.paths.byPath.end() || m_leaves.contains(path->second)) continue;
        const NodeId node = path->second;
        if (!isOwnStep(m_steps, m_prediction.plan->steps[step].node, run.node)) continue;
        if (!m_document.contains(node) || !isLeaf(m_document.at(node).own)) continue;
        const auto taken = here.find(node);
        if (taken != here.end() && taken->second != from) continue;
        here[node] = place;
        shown[node].push_back({.segment = static_cast<std::uint32_t>(index),
                               .begin = static_cast<std::int32_t>(first),
                               .end = static_cast<std::int32_t>(begin)});
      }
    }
    return shown;
  }

  const DocumentPrediction& m_prediction;
  const Document& m_document;
  std::set<NodePath> m_steps;  ///< of the plan
  std::set<NodeId> m_leaves;   ///< leaves that a later prompt has shown
  NodePredictions m_result;
};

QString shareText(const NodePrediction& prediction) {
  // The bounds of the prompt and of its cached tokens can come from different answers, so the share is
  // limited to 100 %.
  const auto number = [](std::int64_t part, std::int64_t whole) {
    return whole <= 0 ? QStringLiteral("0") : shareNumber(std::min(part, whole), whole);
  };
  const QString least = number(prediction.cached.least, prediction.prompt.most);
  const QString most = number(prediction.cached.most, prediction.prompt.least);
  if (least != most) return tr("%1–%2\u00A0%").arg(least, most);
  return prediction.isCertain ? tr("%1\u00A0%").arg(least) : tr("≈ %1\u00A0%").arg(least);
}

}  // namespace

std::map<NodeId, std::int64_t> promptTokens(const DocumentPrediction& prediction, const Document& document) {
  Reader reader(prediction, document);
  const NodePredictions predicted = reader.read();
  std::map<NodeId, std::int64_t> tokens = reader.readUnfit();
  for (const auto& [id, copies] : predicted)
    if (document.at(id).children.empty()) tokens[id] = copies.front().prompt.least;
  return tokens;
}

NodePredictions nodePredictions(const DocumentPrediction& prediction, const Document& document) {
  return Reader(prediction, document).read();
}

const NodePrediction* predictionBeside(const NodePredictions& predictions, NodeId node,
                                       const NodeStatus& status) {
  const auto found = predictions.find(node);
  if (found == predictions.end()) return nullptr;
  const std::vector<NodePrediction>& copies = found->second;
  const NodePrediction& own = copies[std::min<std::size_t>(status.copy, copies.size() - 1)];
  const TokenAccount& ran = status.served;
  if (own.cached.most + own.again.most == 0 && ran.cached() + ran.again == 0) return nullptr;
  const bool isAsRun = ran.total() > 0 && own.prompt.holds(ran.total()) && own.cached.holds(ran.cached()) &&
                       own.again.holds(ran.again) && own.relocated.holds(ran.relocated);
  return isAsRun ? nullptr : &own;
}

QString predictionBadge(const NodePrediction& prediction) {
  return tr("next %1").arg(shareText(prediction));
}

QString predictionWords(const NodePrediction& prediction) {
  const QString cached =
      metricShare("cached-tokens", predictedText("cached-tokens", prediction), "prompt-tokens",
                  predictedText("prompt-tokens", prediction), shareText(prediction));
  QString words = prediction.server.isEmpty()
                      ? tr("Next run: %1").arg(cached)
                      : tr(/*id:next-run-on-server*/ "Next run on %1: %2 (cache simulator of %3)")
                            .arg(prediction.server, cached, prediction.serverKind);
  for (const QString& more : metricPhrases({"relocated-tokens", "tokens-computed-again", "padding-tokens",
                                            "delimiter-tokens", "cropped-tokens", "tokens-beside-the-prompt"},
                                           prediction))
    words += tr("; %1").arg(more);
  if (prediction.blocks > 0)
    words += tr("; %1").arg(metricPart("hit-blocks", QString::number(prediction.foundBlocks), "blocks",
                                       QString::number(prediction.blocks)));
  if (!prediction.isCertain) {
    words += tr(" (bounds: answers are not known yet)");
  } else if (!prediction.again.known()) {
    words += tr(" (bounds: the run chooses the tokens to recompute)");
  }
  return words;
}

namespace {

/// Returns the prediction for tokens [begin, end) of a prompt on a server.
NodePrediction ofTokens(const workbench::ServerPrompt& prompt, const simulator::Answer& answer,
                        std::int64_t begin, std::int64_t end) {
  NodePrediction prediction;
  prediction.prompt = {.least = end - begin, .most = end - begin};
  for (const simulator::FateRun& run : answer.fates) {
    const std::int64_t count =
        std::min<std::int64_t>(end, run.begin + run.count) - std::max<std::int64_t>(begin, run.begin);
    if (count <= 0) continue;
    const bool isMoved = run.fate == simulator::Fate::Moved;
    if (!isMoved && run.fate != simulator::Fate::Found) continue;
    prediction.cached += {.least = count, .most = count};
    if (isMoved) prediction.relocated += {.least = count, .most = count};
  }
  const auto first = prompt.tokens().begin();
  const std::int64_t unknown =
      std::count_if(first + begin, first + end, [](TokenId token) { return token < 0; });
  if (unknown > 0) {
    prediction.prompt.least -= unknown;
    prediction.isCertain = false;
  }
  prediction.computed = {.least = prediction.prompt.least - prediction.cached.most,
                         .most = prediction.prompt.most - prediction.cached.least};
  return prediction;
}

class SimulatorReader {
 public:
  SimulatorReader(const AskedSimulators& asked, const document::Document& document)
      : m_asked(asked), m_document(document) {}

  NodePredictions read() {
    const auto& prompts = m_asked.simulators.prompts;
    // The last prompt that contains a text counts.
    for (std::size_t i = prompts.size(); i-- > 0;) {
      const NodeId node = m_asked.prediction->paths.nodeOf(prompts[i].name.first);
      if (!m_document.contains(node)) continue;
      const std::string& own = m_document.at(node).server;
      const std::string& server = own.empty() ? m_document.settings.server : own;
      const workbench::SimulatorPrediction* const simulator = simulatorOf(server);
      if (simulator == nullptr || i >= simulator->present.size() || simulator->present[i].isRefused) continue;
      takePrompt(node, i, *simulator, simulator->present[i]);
    }
    return std::move(m_result);
  }

 private:
  /// Returns the prediction of the cache simulator of a server. Null: the server has no simulator, or the
  /// simulator cannot predict.
  const workbench::SimulatorPrediction* simulatorOf(const std::string& server) const {
    if (server.empty() || server == document::kEmbedded) return nullptr;
    for (const workbench::SimulatorPrediction& simulator : m_asked.simulators.simulators) {
      if (simulator.server == server && simulator.problem.empty()) return &simulator;
    }
    return nullptr;
  }

  void takePrompt(NodeId node, std::size_t index, const workbench::SimulatorPrediction& simulator,
                  const simulator::Answer& answer) {
    const workbench::ServerPrompt& prompt = promptsOf(m_asked, simulator)[index];
    const QString server = QString::fromStdString(simulator.server);
    const QString kind = QString::fromUtf8(simulator.kind->title);
    const auto all = static_cast<std::int64_t>(prompt.tokens().size());
    std::vector<NodePrediction>& copies = m_result[node];
    if (copies.size() <= prompt.name.second) copies.resize(prompt.name.second + 1);
    NodePrediction& own = copies[prompt.name.second];
    own = ofTokens(prompt, answer, 0, all);
    own.server = server;
    own.serverKind = kind;
    if (const workbench::FoundRange& range = simulator.presentRange.prompts[index]; !range.isExact()) {
      own.isCertain = false;
      own.cached = {.least = range.least, .most = range.most};
      own.computed = {.least = std::max<std::int64_t>(1, own.prompt.least - range.most),
                      .most = own.prompt.most - range.least};
    }
    // The answer of an earlier step in the prompt can also be cached.
    if (prompt.holdsAnswer) own.cached.most = std::max(own.cached.least, own.prompt.most - 1);
    std::int64_t place = 0;
    for (const layout::TokenRun& run : prompt.table.segments.front().runs) {
      const std::int64_t from = std::exchange(place, place + run.count);
      const auto path = m_asked.prediction->paths.byPath.find(run.node);
      if (path == m_asked.prediction->paths.byPath.end() || place > all) continue;
      const NodeId leaf = path->second;
      if (!m_document.contains(leaf) || leaf == node || !isText(leaf)) continue;
      addLeaf(leaf, ofTokens(prompt, answer, from, place), &prompt, server, kind);
    }
  }

  bool isText(NodeId id) const {
    const query::Node& own = m_document.at(id).own;
    return query::infoOf(own).gives == query::Gives::Text || query::isSugar(own);
  }

  /// Adds a part of a leaf, whose text can be cut into several runs. Other prompts, and other copies of this
  /// prompt, are ignored.
  void addLeaf(NodeId leaf, const NodePrediction& part, const workbench::ServerPrompt* prompt,
               const QString& server, const QString& kind) {
    const auto [known, isNew] = m_promptOf.emplace(leaf, prompt);
    if (!isNew && known->second != prompt) return;
    std::vector<NodePrediction>& copies = m_result[leaf];
    if (isNew) copies.assign(1, {});
    copies.front() += part;
    copies.front().isCertain = copies.front().isCertain && part.isCertain;
    copies.front().server = server;
    copies.front().serverKind = kind;
  }

  const AskedSimulators& m_asked;
  const document::Document& m_document;
  std::map<NodeId, const workbench::ServerPrompt*> m_promptOf;
  NodePredictions m_result;
};

}  // namespace

NodePredictions serverPredictions(const AskedSimulators& asked, const document::Document& document) {
  if (asked.prediction == nullptr || !asked.simulators.problem.empty()) return {};
  return SimulatorReader(asked, document).read();
}

}  // namespace spanscope::ui
