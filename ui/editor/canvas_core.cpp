// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/canvas_core.h"

#include "engine/workbench/document/edits.h"
#include "engine/workbench/model_names.h"
#include "ui/editor/tidy_layout.h"
#include "ui/words/glossary.h"
#include "ui/words/metric_words.h"
#include "ui/words/part_text.h"

#include <QStringList>

#include <algorithm>
#include <utility>

namespace spanscope::ui {

using document::Document;
using document::NodeId;

namespace {

/// Whether the documents differ only in the contents of nodes.
bool haveSameTree(const Document& one, const Document& other) {
  const std::optional<std::vector<NodeId>> unlike = other.nodesUnlike(one);
  return unlike && std::all_of(unlike->begin(), unlike->end(), [&](NodeId id) {
           const document::DocumentNode& before = one.at(id);
           const document::DocumentNode& now = other.at(id);
           return before.parent == now.parent && before.children == now.children &&
                  before.collapsed == now.collapsed && before.position == now.position &&
                  before.own.value.index() == now.own.value.index();
         });
}

}  // namespace

CanvasCore::CanvasCore(QObject* parent) : QObject(parent), m_document(std::make_shared<const Document>()) {}

void CanvasCore::setModel(DocumentModel* model) {
  if (m_model == model) return;
  if (m_model != nullptr) m_model->disconnect(this);
  m_model = model;
  m_selection.clear();
  m_area = {};
  m_stackChoices.opened.clear();
  m_stackChoices.shown.clear();
  m_named.clear();
  m_statuses.clear();
  m_statusDocument.reset();
  m_prediction.reset();
  m_predictions.clear();
  m_simulators.reset();  // the results belong to the other document
  m_counted.reset();
  m_countedDocument.reset();
  m_promptTokens.clear();
  if (m_model != nullptr) {
    connect(m_model, &DocumentModel::changed, this, [this] { takeDocument(m_model->snapshot()); });
    takeDocument(m_model->snapshot());
  } else {
    takeDocument(m_input ? m_input->document : std::make_shared<const Document>());
  }
  Q_EMIT selectionChanged();
}

void CanvasCore::setInput(const ViewInput& input) {
  const std::optional<ViewInput> before = std::exchange(m_input, input);
  if (m_model == nullptr && m_document != input.document) takeDocument(input.document);
  if (m_theme != input.theme) {
    m_theme = input.theme;
    Q_EMIT themeChanged();
  }
  const bool sameRuns =
      before && before->trace == input.trace && before->position == input.position &&
      before->paths == input.paths && before->tokenizer == input.tokenizer &&
      before->tokensCounted == input.tokensCounted && before->selection.request == input.selection.request &&
      (before->selection == input.selection || before->shownRequest() == input.shownRequest()) &&
      m_statusDocument == m_document;
  const std::size_t runs = input.trace->runs().size();
  if (before && (before->trace != input.trace || before->paths.size() != input.paths.size() ||
                 runs != m_runs || before->identities != input.identities))
    takeIdentities();
  m_runs = runs;
  if (!sameRuns) updateStatuses();
  takePrediction();
  // A selection on the canvas goes to the window and returns with an input. An earlier input has an older
  // selection, which must not replace it.
  if ((!before || before->selection.nodes != input.selection.nodes) && input.selection.nodes != m_selection) {
    m_selection.clear();
    for (const NodeId id : input.selection.nodes) {
      if (m_document->contains(id)) m_selection.push_back(id);
    }
    if (!m_selection.empty()) m_area = {};
    if (showWanted()) redraw();
    Q_EMIT selectionChanged();
  }
}

const document::Rect* CanvasCore::rectOf(NodeId id) const {
  const auto found = m_layout.find(id);
  return found == m_layout.end() ? nullptr : &found->second;
}

const NodeStatus& CanvasCore::statusOf(NodeId id) const {
  static const NodeStatus none;
  const auto found = m_statuses.find(id);
  return found == m_statuses.end() ? none : found->second;
}

NodeStatus CanvasCore::statusOf(const Stack& stack) const {
  NodeStatus all;
  std::vector<NodeId> open;
  const auto take = [&](NodeId id) {
    const document::DocumentNode* node = m_document->find(id);
    if (node == nullptr) return;
    for (auto child = node->children.rbegin(); child != node->children.rend(); ++child) {
      if (*child != document::kNoNode) open.push_back(*child);
    }
    const NodeStatus& own = statusOf(id);
    if (node->children.empty() && own.tokens >= 0) {
      all.hasOtherText = all.hasOtherText || own.hasOtherText;
      all.tokens = std::max<std::int64_t>(all.tokens, 0) + own.tokens;
      all.served += own.served;
      all.unread += own.unread;
    }
    if (own.phase == NodePhase::Running || own.phase == NodePhase::Failed) all.phase = own.phase;
  };
  for (const NodeId member : stack.members) {
    take(member);
    while (!open.empty()) {
      const NodeId next = open.back();
      open.pop_back();
      take(next);
    }
  }
  // A share of only some texts would look like a share of all.
  if (all.hasOtherText) {
    all.served = {};
    all.unread = 0;
  }
  return all;
}

void CanvasCore::setRoom(double height, double whole) {
  if (height == m_stackChoices.height && whole == m_stackChoices.whole) return;
  m_stackChoices.height = height;
  m_stackChoices.whole = whole;
  if (restack()) redraw();
}

void CanvasCore::setSpread(NodeId list, bool spread) {
  const bool changed =
      spread ? m_stackChoices.opened.insert(list).second : m_stackChoices.opened.erase(list) > 0;
  if (!changed) return;
  restack();
  redraw();
}

bool CanvasCore::setNamed(std::set<NodeId> nodes) {
  if (nodes.empty() && m_named.empty()) return false;
  m_named = std::move(nodes);
  if (!showWanted()) return false;
  redraw();
  return true;
}

void CanvasCore::stackAll() {
  if (m_stackChoices.opened.empty()) return;
  m_stackChoices.opened.clear();
  if (restack()) redraw();
}

void CanvasCore::open(const Stack& stack) {
  setSpread(stack.parent, true);
}

const Stack* CanvasCore::selectedStack() const {
  const Stack* stack = m_stacks.at(current());
  if (stack == nullptr || stack->members.size() != m_selection.size()) return nullptr;
  const bool whole = std::all_of(stack->members.begin(), stack->members.end(),
                                 [this](NodeId member) { return isSelected(member); });
  return whole ? stack : nullptr;
}

void CanvasCore::takeIdentities() {
  SegmentIdentities now = identities();
  if (now == m_identities) return;
  m_identities = std::move(now);
  std::vector<NodeId> changed;
  for (auto& [id, look] : nodeLooks(drawn(), m_layout, m_identities, m_stacks)) {
    NodeLook& own = m_looks.at(id);
    look.spread = own.spread;
    if (look == own) continue;
    own = look;
    changed.push_back(id);
  }
  if (!changed.empty()) Q_EMIT looksChanged(changed);
}

SegmentIdentities CanvasCore::identities() {
  // The window reads identities once for all views. The canvas can use them if they belong to the drawn
  // document.
  if (m_input && m_input->identities && m_input->document == m_document && &drawn() == m_document.get())
    return *m_input->identities;
  return m_input ? m_book.read(drawn(), *m_input->trace, m_input->paths)
                 : m_book.read(drawn(), m_noTrace, {});
}

bool CanvasCore::restack() {
  m_stackLimit = stackLimit(drawn(), m_stackChoices);
  Stacks stacks = stacksOf(drawn(), m_stackChoices, m_stackLimit);
  if (stacks == m_stacks) return false;
  m_stacks = std::move(stacks);
  return true;
}

void CanvasCore::traceAdded() {
  constexpr std::size_t kMostShown = 6;
  if (m_selection.size() <= kMostShown) {
    m_stackChoices.shown.insert(m_selection.begin(), m_selection.end());
    if (restack()) redraw();
  }
  Q_EMIT added();
}

std::set<NodeId> CanvasCore::wanted() const {
  std::set<NodeId> wanted;
  // If all members of a stack are selected, the stack stays.
  if (current() != document::kNoNode && m_selection.size() == 1) wanted.insert(current());
  for (const auto& [id, status] : m_statuses) {
    if (status.phase == NodePhase::Running && m_document->contains(id)) wanted.insert(id);
  }
  for (const NodeId id : m_named) {
    if (m_document->contains(id)) wanted.insert(id);
  }
  return wanted;
}

bool CanvasCore::showWanted() {
  std::set<NodeId> wanted = this->wanted();
  const bool isDrawn = std::all_of(wanted.begin(), wanted.end(), [this](NodeId id) {
    for (NodeId at = id; at != document::kNoNode; at = m_document->at(at).parent) {
      if (m_stacks.of(at) != nullptr) return false;
    }
    return true;
  });
  // If all these nodes are drawn already, nothing moves.
  if (isDrawn) return false;
  m_stackChoices.shown = std::move(wanted);
  return restack();
}

const NodePrediction* CanvasCore::predictionOf(NodeId id) const {
  return m_predictions.empty() ? nullptr : predictionBeside(m_predictions, id, statusOf(id));
}

void CanvasCore::setPredictionsShown(bool shown) {
  m_predictionsShown = shown;
  takePrediction();
}

QString CanvasCore::tipOf(NodeId id) const {
  QStringList lines;
  const NodeStatus& status = statusOf(id);
  const auto look = m_looks.find(id);
  // The tool tip of a join explains the operator, because the name of a join does not.
  if (look != m_looks.end()) {
    if (look->second.pill && findTerm(QString::fromStdString(look->second.op)) != nullptr)
      lines.append(explain(QString::fromStdString(look->second.op)));
    if (look->second.muted) lines.append(explain(u"mute"));
    if (look->second.isFrozen()) lines.append(explain(u"freeze"));
  }
  if (status.served.total() > 0) {
    const metrics::Totals totals = status.totals();
    QString line = tr("Last run: %1").arg(metricShare("cached-tokens", "prompt-tokens", totals));
    for (const QString& words :
         metricPhrases({"relocated-tokens", "tokens-computed-again", "padding-tokens", "delimiter-tokens",
                        "cropped-tokens", "tokens-beside-the-prompt"},
                       totals))
      line += tr("; %1").arg(words);
    lines.append(line);
  }
  if (status.outer.total() > 0)
    lines.append(tr("In an outer step: %1")
                     .arg(metricPart("cached-tokens", metricText("cached-tokens", status.outer),
                                     "prompt-tokens", metricText("prompt-tokens", status.outer))));
  if (status.unread > 0)
    lines.append((status.phase == NodePhase::Stopped || status.phase == NodePhase::Failed
                      ? tr("%1, because the run ended")
                      : tr("%1 yet"))
                     .arg(metricPhraseOf("unread-tokens", status.totals())));
  if (!status.answeredBy.empty())
    lines.append(tr("%1 gave this answer. The next run uses another model")
                     .arg(QString::fromStdString(status.answeredBy)));
  if (status.looked >= 0)
    lines.append(tr("Document share: %1. The shares of all documents add up to "
                    "100 %")
                     .arg(partText(status.looked)));
  if (const NodePrediction* prediction = predictionOf(id)) lines.append(predictionWords(*prediction));
  if (!status.advice.empty()) lines.append(tr("⚠ %1").arg(QString::fromStdString(status.advice)));
  return lines.join(QLatin1Char('\n'));
}

void CanvasCore::setPreview(std::optional<Document> preview) {
  if (!preview && !m_preview) return;
  m_preview = std::move(preview);
  // The number of separate cards stays the same, so that a gesture moves no other node.
  m_stacks = stacksOf(drawn(), m_stackChoices, m_stackLimit);
  redraw();
}

void CanvasCore::placeRoot(Document& document) const {
  const document::Rect* rect = rectOf(document.root());
  if (rect == nullptr || document.at(document.root()).position) return;
  document::setPosition(document, document.root(), document::Point{.x = rect->x, .y = rect->y});
}

void CanvasCore::placeRootBeside(Document& document, NodeId connected) const {
  const std::vector<NodeId> tops = document.tops();
  const bool hasPlaced = std::any_of(tops.begin(), tops.end(), [&](NodeId top) {
    return top != connected && document.at(top).position.has_value();
  });
  if (hasPlaced) placeRoot(document);
}

bool CanvasCore::change(const QString& name, const std::function<void(Document&)>& change) {
  if (m_model == nullptr) return false;
  m_preview.reset();
  const bool changed = m_model->change(name, change);
  if (!changed) {
    restack();
    redraw();
  }
  return changed;
}

bool CanvasCore::isSelected(NodeId id) const {
  return std::find(m_selection.begin(), m_selection.end(), id) != m_selection.end();
}

void CanvasCore::select(std::vector<NodeId> nodes) {
  std::erase_if(nodes, [this](NodeId id) { return !m_document->contains(id); });
  if (nodes == m_selection && m_area == AreaRef{}) return;
  m_selection = std::move(nodes);
  m_area = {};
  if (showWanted()) redraw();
  Q_EMIT selectionChanged();
  Selection selection;
  selection.nodes = m_selection;
  Q_EMIT selectionWanted(selection);
}

void CanvasCore::selectArea(AreaRef area) {
  if (area == m_area) return;
  select({});
  m_area = area;
  Q_EMIT selectionChanged();
}

void CanvasCore::showNextAnswer(NodeId node) {
  if (!m_input) return;
  const std::map<std::uint32_t, RequestId> requests = requestsOfNode(*m_input, node);
  if (requests.size() < 2) return;
  auto next = requests.upper_bound(statusOf(node).copy);
  if (next == requests.end()) next = requests.begin();
  Selection selection;
  selection.nodes = {node};
  selection.request = next->second;
  m_selection = selection.nodes;
  m_area = {};
  Q_EMIT selectionChanged();
  Q_EMIT selectionWanted(selection);
}

void CanvasCore::takeDocument(std::shared_ptr<const Document> document) {
  const std::shared_ptr<const Document> before = std::exchange(m_document, std::move(document));
  const bool isDrawn = !m_preview.has_value();
  const bool hasStatuses = m_statusDocument == before;
  m_preview.reset();
  const auto gone = [this](NodeId id) { return !m_document->contains(id); };
  const bool fewer = std::erase_if(m_selection, gone) > 0;
  const std::optional<std::vector<NodeId>> edited = isDrawn ? editedInPlace(*before) : std::nullopt;
  if (edited) {
    redrawNodes(*edited);
    // If a text now equals the text of another document, both have the same identity. In a window, the input
    // reports the identities.
    if (!m_input || !m_input->identities) takeIdentities();
  } else if (isDrawn && haveSameTree(*before, *m_document)) {
    // Only the contents of nodes changed, so the same nodes stay stacked while the user types.
    m_stacks = stacksOf(drawn(), m_stackChoices, m_stackLimit);
    redraw();
  } else {
    m_stackChoices.shown = wanted();
    restack();
    redraw();
  }
  if (m_input && edited && hasStatuses) {
    updateStatuses(*edited);
  } else if (m_input) {
    updateStatuses();
  }
  if (fewer) {
    Q_EMIT selectionChanged();
    Selection selection;
    selection.nodes = m_selection;
    Q_EMIT selectionWanted(selection);
  }
}

void CanvasCore::redraw() {
  m_layout = tidyLayout(drawn(), m_stacks);
  m_identities = identities();
  m_looks = nodeLooks(drawn(), m_layout, m_identities, m_stacks);
  for (const NodeId list : m_stackChoices.opened) {
    const auto look = m_looks.find(list);
    if (look != m_looks.end()) look->second.spread = true;
  }
  Q_EMIT drawnChanged();
}

std::optional<std::vector<NodeId>> CanvasCore::editedInPlace(const Document& before) const {
  // A changed parameter can change whether the text of a run equals the text of the document.
  if (m_document->frames != before.frames || m_document->notes != before.notes ||
      m_document->parameters != before.parameters || m_document->declarations != before.declarations ||
      m_document->settings.model != before.settings.model) {
    return std::nullopt;
  }
  std::optional<std::vector<NodeId>> unlike = m_document->nodesUnlike(before);
  if (!unlike) return std::nullopt;
  for (const NodeId id : *unlike) {
    const document::DocumentNode& now = m_document->at(id);
    const document::DocumentNode& then = before.at(id);
    // Only messages have hues, so another kind of operator can change the looks of other nodes.
    const bool sameKind = now.own.value.index() == then.own.value.index();
    if (!sameKind || now.muted != then.muted || now.bends != then.bends || !laidOutAlike(now, then))
      return std::nullopt;
  }
  return unlike;
}

void CanvasCore::redrawNodes(const std::vector<NodeId>& nodes) {
  std::vector<NodeId> changed;
  const std::string checkpoint = workbench::modelNameOf(m_document->settings);
  for (const NodeId id : nodes) {
    const auto look = m_looks.find(id);
    if (look == m_looks.end() || look->second.stacked > 0)
      continue;  // the node is not drawn as a separate card
    const document::DocumentNode& node = m_document->at(id);
    setOwnLook(look->second, node, answererOf(*m_document, node, checkpoint));
    changed.push_back(id);
  }
  if (!changed.empty()) Q_EMIT looksChanged(changed);
}

void CanvasCore::takePrediction() {
  std::shared_ptr<const DocumentPrediction> counted;
  if (m_input)
    counted = m_input->prediction.counted ? m_input->prediction.counted : m_input->prediction.newest;
  if (counted && counted->isKnown() && !m_input->prediction.isPending && m_counted != counted) {
    m_counted = std::move(counted);
    m_countedDocument = m_input->document;
    m_promptTokens = promptTokens(*m_counted, *m_countedDocument);
    updateStatuses();
  }
  std::shared_ptr<const DocumentPrediction> shown;
  const bool isOfServers = !namedServers(*m_document).empty();
  if (m_predictionsShown && m_input && m_input->prediction.isOnCards && m_input->prediction.newest &&
      (isOfServers || m_input->prediction.newest->isKnown()) && m_input->position == m_input->trace->size()) {
    const auto& runs = m_input->state().progress().runs;
    const auto newest = m_input->paths.empty() ? runs.end() : runs.find(m_input->paths.rbegin()->first);
    // An older run of another session is not compared with the next run.
    const bool isOlder =
        newest == runs.end() && std::any_of(m_input->paths.begin(), m_input->paths.end(),
                                            [&runs](const auto& run) { return runs.contains(run.first); });
    if (!isOlder && (newest == runs.end() || newest->second.outcome)) shown = m_input->prediction.newest;
  }
  if (isOfServers) {
    m_prediction.reset();
    if (!shown) return usePredictions({});
    if (m_simulators == nullptr) {
      m_simulators = std::make_unique<SimulatorAsker>();
      m_simulators->useServers(m_servers);
      connect(m_simulators.get(), &SimulatorAsker::answered, this, &CanvasCore::takePrediction);
    }
    m_simulators->ask(*m_input);
    const std::shared_ptr<const AskedSimulators>& asked = m_simulators->newest();
    // The prediction of an earlier query stays until a newer one arrives, for nodes that still exist.
    return usePredictions(asked ? serverPredictions(*asked, *m_document) : NodePredictions());
  }
  if (shown == m_prediction && (shown || m_predictions.empty())) return;
  m_prediction = std::move(shown);
  usePredictions(m_prediction ? nodePredictions(*m_prediction, *m_document) : NodePredictions());
}

void CanvasCore::useServers(std::shared_ptr<const KnownServers> servers) {
  m_servers = std::move(servers);
  if (m_simulators != nullptr) m_simulators->useServers(m_servers);
}

void CanvasCore::usePredictions(NodePredictions predictions) {
  if (predictions == m_predictions) return;
  m_predictions = std::move(predictions);
  Q_EMIT statusesChanged();
}

void CanvasCore::countFromPrediction(NodeStatuses& statuses) const {
  for (auto& [id, status] : statuses) {
    if (status.fromTrace || status.tokens < 0) continue;
    const auto counted = m_promptTokens.find(id);
    if (counted == m_promptTokens.end()) continue;
    // An edited text has other tokens until the next prediction.
    const document::DocumentNode* const then = m_countedDocument->find(id);
    if (then != nullptr && then->own == m_document->at(id).own) status.tokens = counted->second;
  }
}

void CanvasCore::updateStatuses() {
  ViewInput input = *m_input;
  input.document = m_document;
  m_statusDocument = m_document;
  NodeStatuses statuses = nodeStatuses(input, m_statusCache);
  countFromPrediction(statuses);
  if (statuses == m_statuses) return;
  m_statuses = std::move(statuses);
  if (showWanted()) redraw();
  Q_EMIT statusesChanged();
}

void CanvasCore::updateStatuses(const std::vector<NodeId>& nodes) {
  ViewInput input = *m_input;
  input.document = m_document;
  m_statusDocument = m_document;
  NodeStatuses statuses = nodeStatuses(input, m_statusCache, nodes);
  countFromPrediction(statuses);
  bool changed = false;
  for (const NodeId id : nodes) {
    auto now = statuses.extract(id);
    const auto then = m_statuses.find(id);
    if (now.empty() ? then == m_statuses.end() : then != m_statuses.end() && then->second == now.mapped()) {
      continue;
    }
    if (then != m_statuses.end()) m_statuses.erase(then);
    if (!now.empty()) m_statuses.insert(std::move(now));
    changed = true;
  }
  if (changed) Q_EMIT statusesChanged();
}

}  // namespace spanscope::ui
