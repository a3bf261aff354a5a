// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lessons/lesson_recorder.h"

#include "engine/lesson/lesson_state.h"
#include "engine/trace/prompt_parts.h"
#include "engine/workbench/document/document_text.h"
#include "ui/lessons/lesson_actions.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

using lesson::Action;
using lesson::ActionKind;
using lesson::Target;

Action wordAction(ActionKind kind, std::string word) {
  return {.kind = kind, .arguments = {{.value = std::move(word)}}};
}

/// Returns `settings` with those settings of `other` that depend on the learner's machine, so that a lesson
/// cannot set them.
document::RunSettings withMachineOf(document::RunSettings settings, const document::RunSettings& other) {
  for (const workbench::Setting& setting : workbench::runSettings()) {
    if (lesson::mayBeSet(setting)) continue;
    std::visit([&](auto member) { settings.*member = other.*member; }, setting.member);
  }
  return settings;
}

}  // namespace

QString LessonRecorder::fileStem(const QString& title) {
  QString name;
  for (const QChar c : title.toLower()) {
    const bool isPlain = c.unicode() < 128 && c.isLetterOrNumber();
    if (isPlain)
      name += c;
    else if (!name.isEmpty() && !name.endsWith(QLatin1Char('-')))
      name += QLatin1Char('-');
  }
  while (name.endsWith(QLatin1Char('-'))) name.chop(1);
  return name.isEmpty() ? QStringLiteral("query") : name;
}

LessonRecorder::LessonRecorder(const SeenNow& now, QObject* parent) : QObject(parent) {
  m_head.minutes = 10;
  m_steps.emplace_back();
  m_now.layout = now.layout;
  m_model = now.document == nullptr ? std::string() : now.document->settings.model;
  if (now.document != nullptr) {
    m_settings = now.document->settings;
    m_firstSettings = lesson::settingsUnlike(m_settings, {});
  }
  if (now.tab != 0) open(now);
  add(wordAction(ActionKind::Layout, now.layout));
}

void LessonRecorder::add(Action action) {
  // An action belongs to the last step, so the recorder shows this step.
  m_at = m_steps.size() - 1;
  lesson::addAction(m_steps.back().actions, std::move(action));
  reportChange();
}

void LessonRecorder::reportChange() {
  Q_EMIT changed();
  Q_EMIT edited();
}

void LessonRecorder::noteUnsaid(const QString& what) {
  m_unsaid = what;
  Q_EMIT changed();
}

void LessonRecorder::noteModel(const std::string& model) {
  if (model != m_model)
    m_unsaid = tr("All runs of a lesson use one model. The change to another model was not recorded.");
}

void LessonRecorder::open(const SeenNow& now) {
  noteModel(now.document->settings.model);
  m_now = now;
  m_document = *now.document;
  document::Document saved = m_document;
  // The text of the lesson has the settings.
  saved.settings = {};
  const auto known = m_opened.find(now.tab);
  std::string name;
  if (known != m_opened.end()) {
    const auto same = std::find_if(m_queries.begin(), m_queries.end(),
                                   [&known](const RecordedQuery& one) { return one.name == known->second; });
    if (same != m_queries.end() && same->document == saved) name = same->name;
  }
  if (name.empty()) {
    const std::string stem = fileStem(now.title.section(QLatin1Char('.'), 0, 0)).toStdString();
    const auto isTaken = [this](const std::string& wanted) {
      return std::any_of(m_queries.begin(), m_queries.end(),
                         [&wanted](const RecordedQuery& one) { return one.name == wanted; });
    };
    name = stem + ".span";
    for (int number = 2; isTaken(name); ++number) name = stem + "-" + std::to_string(number) + ".span";
    m_queries.push_back({name, std::move(saved)});
  }
  m_opened[now.tab] = name;
  add(wordAction(ActionKind::Open, name));
  const document::RunSettings wanted = withMachineOf(now.document->settings, m_settings);
  for (const lesson::Assignment& setting : lesson::settingsUnlike(wanted, m_settings))
    add({.kind = ActionKind::Set, .arguments = {{.value = setting}}});
  m_settings = wanted;
  m_document.settings = m_settings;
}

void LessonRecorder::takeChanges() {
  if (m_now.document == nullptr || m_now.tab == 0) return;
  document::Document after = *m_now.document;
  noteModel(after.settings.model);
  after.settings = withMachineOf(after.settings, m_document.settings);
  if (after == m_document) return;
  const lesson::RecordedChange change = lesson::actionsBetween(m_document, after);
  if (change.isWhole) {
    for (const Action& action : change.actions) add(action);
    m_document = std::move(after);
    m_settings = m_document.settings;
    return;
  }
  // Nodes were added, removed or moved, so the current query becomes another file of the lesson.
  open(m_now);
}

void LessonRecorder::see(const SeenNow& now) {
  if (m_isPaused) return;
  if (now.layout != m_now.layout) {
    takeChanges();
    m_now.layout = now.layout;
    add(wordAction(ActionKind::Layout, now.layout));
  }
  if (now.tab != m_now.tab) {
    takeChanges();
    if (now.tab != 0 && now.document != nullptr) open(now);
    m_now = now;
    return;
  }
  const SeenNow before = std::exchange(m_now, now);
  if (!now.isBusy && (now.position != before.position || now.isAtEnd != before.isAtEnd)) takePosition();
}

void LessonRecorder::noteSelection() {
  if (m_isPaused) return;
  const std::optional<Target> target = targetOf(m_now.selection);
  if (!target) return;
  // Earlier edits come first, so that the actions keep their order.
  takeChanges();
  add({.kind = ActionKind::Select, .arguments = {{.value = *target}}});
}

std::optional<NodePath> LessonRecorder::pathOf(document::NodeId node) const {
  if (node == document::kNoNode || m_now.document == nullptr) return std::nullopt;
  for (const auto& [place, id] : document::pathsInTree(*m_now.document, m_now.document->root())) {
    if (id == node) return place;
  }
  return std::nullopt;
}

std::optional<NodePath> LessonRecorder::selectedNode() const {
  return pathOf(m_now.selection.currentNode());
}

std::optional<Target> LessonRecorder::targetOf(const Selection& selection) const {
  if (selection.block || selection.token) {
    const metrics::RunFacts* const facts = lastFacts();
    if (facts == nullptr || facts->requests.empty()) return std::nullopt;
    const metrics::RequestFacts& request = facts->requests.front();
    if (selection.token && selection.token->request == request.request) {
      const std::vector<metrics::ViewToken> tokens = metrics::tokensInView(request);
      const auto found = std::find_if(tokens.begin(), tokens.end(), [&](const metrics::ViewToken& token) {
        return token.segment == selection.token->segment && token.local == selection.token->local;
      });
      if (found != tokens.end())
        return Target{.kind = Target::Kind::Token,
                      .number = static_cast<std::size_t>(found - tokens.begin()) + 1};
    }
    if (const std::optional<std::size_t> block = blockNumber(selection, *facts))
      return Target{.kind = Target::Kind::Block, .number = *block};
    return std::nullopt;
  }
  if (std::optional<NodePath> path = pathOf(selection.currentNode()))
    return Target{.kind = Target::Kind::Node, .node = std::move(*path)};
  return std::nullopt;
}

std::vector<LinkedPart> LessonRecorder::selectedParts() const {
  std::vector<LinkedPart> parts;
  const auto add = [&parts](const QString& name, const Target& target) {
    parts.push_back({name, QString::fromStdString(lesson::written(target))});
  };
  if (const std::optional<Target> target = targetOf(m_now.selection)) {
    if (target->kind == Target::Kind::Token) add(tr("token %1").arg(target->number), *target);
    if (target->kind == Target::Kind::Block) add(tr("block %1").arg(target->number), *target);
    const metrics::RunFacts* const facts = lastFacts();
    if (target->kind == Target::Kind::Token && facts != nullptr) {
      if (const std::optional<std::size_t> block = blockNumber(m_now.selection, *facts))
        add(tr("block %1").arg(*block), {.kind = Target::Kind::Block, .number = *block});
    }
  }
  if (const std::optional<NodePath> path = selectedNode())
    add(selectedNodeName(), {.kind = Target::Kind::Node, .node = *path});
  return parts;
}

QString LessonRecorder::selectedNodeName() const {
  const std::optional<NodePath> path = selectedNode();
  return path ? nodeWords(*m_now.document, *path) : QString();
}

void LessonRecorder::takePosition() {
  if (m_made.empty() || m_now.trace == nullptr || m_now.run != m_made.back().run) return;
  std::size_t number = 0;
  const std::optional<std::size_t> start = m_now.trace->startOf(m_now.run);
  const std::size_t end = m_now.trace->endOf(m_now.run);
  if (!start) return;
  const bool isEnd = m_now.isAtEnd || m_now.position >= end;
  for (std::size_t index = *start; !isEnd && index < m_now.position; ++index)
    number += m_now.trace->event(index).run == m_now.run ? 1 : 0;
  if (!isEnd && number == 0) return;
  if (std::exchange(m_scrubbed, number) == number) return;
  lesson::Moment moment;
  if (number > 0) moment = {.kind = lesson::Moment::Kind::Number, .number = number, .event = {}};
  add({.kind = ActionKind::Scrub, .arguments = {{.value = moment}}});
}

std::optional<std::size_t> LessonRecorder::numberOf(RunId run) const {
  const auto found =
      std::find_if(m_made.begin(), m_made.end(), [run](const Made& made) { return made.run == run; });
  if (run == 0 || found == m_made.end()) return std::nullopt;
  return static_cast<std::size_t>(found - m_made.begin()) + 1;
}

void LessonRecorder::readFacts(std::size_t index, const std::shared_ptr<const TraceStore>& trace) {
  if (trace == nullptr) return;
  metrics::RunFactsCollector collector;
  // The views report events that contradict earlier events.
  for (const trace::Event& event : trace->events()) static_cast<void>(collector.take(event));
  if (std::optional<metrics::RunFacts> facts = collector.of(m_made[index].run))
    m_made[index].facts = std::move(facts);
}

const metrics::RunFacts* LessonRecorder::lastFacts() const {
  return m_made.empty() || !m_made.back().facts ? nullptr : &*m_made.back().facts;
}

lesson::FactsOf LessonRecorder::factsOf() const {
  return [this](std::uint32_t run) -> const metrics::RunFacts* {
    if (run == 0 || run > m_made.size() || !m_made[run - 1].facts) return nullptr;
    return &*m_made[run - 1].facts;
  };
}

void LessonRecorder::noteRun(RunId run) {
  if (m_isPaused) return;
  takeChanges();
  m_made.push_back({.run = run, .document = m_now.document, .facts = std::nullopt});
  m_scrubbed = 0;
  readFacts(m_made.size() - 1, m_now.trace);
  add({.kind = ActionKind::Run, .arguments = {}});
}

void LessonRecorder::noteFidelity(RunId run) {
  const std::optional<std::size_t> number = numberOf(run);
  if (m_isPaused) return;
  if (!number)
    return noteUnsaid(tr("The measured run is not a run of the lesson. The measurement was not recorded."));
  takeChanges();
  readFacts(*number - 1, m_now.trace);
  add({.kind = ActionKind::Fidelity, .arguments = {{.value = static_cast<std::uint32_t>(*number)}}});
}

void LessonRecorder::noteEmptied() {
  if (m_isPaused) return;
  takeChanges();
  add({.kind = ActionKind::Empty, .arguments = {}});
}

void LessonRecorder::noteDock(const QString& id) {
  if (m_isPaused) return;
  const auto names = lesson::dockNames();
  if (std::find(names.begin(), names.end(), id.toStdString()) == names.end()) return;
  takeChanges();
  add(wordAction(ActionKind::Dock, id.toStdString()));
}

void LessonRecorder::noteZoom(const QString& how) {
  if (m_isPaused) return;
  takeChanges();
  add(wordAction(ActionKind::Zoom, how.toStdString()));
}

void LessonRecorder::noteCompared(RunId one, RunId other) {
  if (m_isPaused) return;
  // A lesson can only compare its last run with an earlier run.
  const std::optional<std::size_t> first = numberOf(std::min(one, other));
  const std::optional<std::size_t> last = numberOf(std::max(one, other));
  if (!first || !last || *last != m_made.size() || *first == *last) {
    return noteUnsaid(
        tr("A lesson compares its last run with an earlier run of the lesson. This comparison was not "
           "recorded."));
  }
  takeChanges();
  add({.kind = ActionKind::Compare, .arguments = {{.value = static_cast<std::uint32_t>(*first)}}});
}

void LessonRecorder::noteExperiment(const QString& name) {
  if (m_isPaused) return;
  takeChanges();
  add(wordAction(ActionKind::Experiment, name.toStdString()));
}

void LessonRecorder::newStep() {
  takeChanges();
  m_steps.emplace_back();
  m_at = m_steps.size() - 1;
  m_unsaid.clear();
  reportChange();
}

bool LessonRecorder::canRemoveStep() const {
  const std::vector<Action>& actions = m_steps[m_at].actions;
  return m_steps.size() > 1 && std::all_of(actions.begin(), actions.end(), [](const Action& action) {
           return lesson::infoOf(action.kind).effect == lesson::ActionEffect::View;
         });
}

void LessonRecorder::removeStep() {
  if (!canRemoveStep()) return;
  m_steps.erase(m_steps.begin() + static_cast<std::ptrdiff_t>(m_at));
  m_at = std::min(m_at, m_steps.size() - 1);
  reportChange();
}

std::uint32_t LessonRecorder::runsBefore() const {
  std::uint32_t count = 0;
  for (std::size_t step = 0; step < m_at; ++step) {
    for (const Action& action : m_steps[step].actions) count += action.kind == ActionKind::Run ? 1U : 0U;
  }
  return count;
}

std::uint32_t LessonRecorder::runsInStep() const {
  const std::vector<Action>& actions = m_steps[m_at].actions;
  return static_cast<std::uint32_t>(std::count_if(
      actions.begin(), actions.end(), [](const Action& action) { return action.kind == ActionKind::Run; }));
}

QString LessonRecorder::wordsOf(std::size_t index) const {
  const std::vector<Action>& actions = m_steps[m_at].actions;
  const Action& action = actions[index];
  if (action.kind == ActionKind::Run) {
    const auto before = std::count_if(actions.begin(), actions.begin() + static_cast<std::ptrdiff_t>(index),
                                      [](const Action& one) { return one.kind == ActionKind::Run; });
    const std::size_t number = runsBefore() + static_cast<std::size_t>(before) + 1;
    const RunId shown = number <= m_made.size() ? m_made[number - 1].run : 0;
    return shown == 0 || shown == number
               ? tr("run (run %1)").arg(number)
               : tr("run (run %1 of the lesson, run %2 in the window)").arg(number).arg(shown);
  }
  QString words = QString::fromStdString(lesson::written(action)) + QLatin1Char(' ');
  for (const lesson::Argument& argument : action.arguments) {
    const auto* const target = std::get_if<Target>(&argument.value);
    if (target == nullptr || target->kind != Target::Kind::Node) continue;
    const QString path = QString::fromStdString(lesson::written(*target)) + QLatin1Char(' ');
    const QString name = nodeWords(m_document, target->node);
    if (!name.isEmpty()) words.replace(path, tr("“%1”").arg(name) + QLatin1Char(' '));
  }
  return words.trimmed();
}

void LessonRecorder::goTo(std::size_t step) {
  if (step >= m_steps.size() || step == m_at) return;
  m_at = step;
  Q_EMIT changed();
}

void LessonRecorder::setTexts(const QString& title, const QString& text, const QString& after) {
  lesson::RecordedStep& step = m_steps[m_at];
  step.title = title.toStdString();
  step.text = text.toStdString();
  step.after = after.toStdString();
  Q_EMIT edited();
}

void LessonRecorder::setQuestion(lesson::RecordedQuestion question) {
  m_steps[m_at].question = std::move(question);
  Q_EMIT edited();
}

void LessonRecorder::setHolds(const QString& lines) {
  m_steps[m_at].holds = lines.toStdString();
  Q_EMIT edited();
}

void LessonRecorder::setHead(const QString& title, int minutes, const QString& after) {
  m_head.title = title.toStdString();
  m_head.minutes = minutes;
  m_head.after = after.toStdString();
  Q_EMIT edited();
}

bool LessonRecorder::canForget(std::size_t action) const {
  const std::vector<Action>& actions = m_steps[m_at].actions;
  return action < actions.size() && lesson::infoOf(actions[action].kind).effect == lesson::ActionEffect::View;
}

void LessonRecorder::forget(std::size_t action) {
  if (!canForget(action)) return;
  std::vector<Action>& actions = m_steps[m_at].actions;
  actions.erase(actions.begin() + static_cast<std::ptrdiff_t>(action));
  reportChange();
}

std::vector<std::size_t> LessonRecorder::cacheLog() const {
  std::vector<std::size_t> log;
  std::size_t run = 0;
  for (const lesson::RecordedStep& step : m_steps) {
    for (const Action& action : step.actions) {
      if (action.kind == ActionKind::Run && run < m_made.size()) log.push_back(run++);
      if (action.kind == ActionKind::Empty) log.push_back(kEmptied);
    }
  }
  return log;
}

void LessonRecorder::noteRepeated(std::size_t run, RunId id, const std::shared_ptr<const TraceStore>& trace) {
  m_made[run].run = id;
  readFacts(run, trace);
}

void LessonRecorder::resume(const SeenNow& now) {
  m_isPaused = false;
  m_now = now;
  if (now.document != nullptr) m_document = *now.document;
  m_settings = m_document.settings;
  m_scrubbed = 0;
  if (now.tab != 0 && !m_queries.empty()) m_opened[now.tab] = lastOpened();
  Q_EMIT changed();
}

std::string LessonRecorder::lastOpened() const {
  std::string name = m_queries.empty() ? std::string() : m_queries.back().name;
  for (const lesson::RecordedStep& step : m_steps) {
    for (const Action& action : step.actions) {
      if (action.kind == ActionKind::Open) name = std::get<std::string>(action.arguments.front().value);
    }
  }
  return name;
}

QByteArray LessonRecorder::saved() {
  if (!m_isPaused) takeChanges();
  return writeRecording({.head = m_head,
                         .model = m_model,
                         .settings = m_firstSettings,
                         .steps = m_steps,
                         .step = m_at,
                         .queries = m_queries,
                         .ran = ranDocuments(),
                         .document = std::make_shared<const document::Document>(m_document),
                         .title = m_now.title,
                         .beside = m_now.beside,
                         .layout = m_now.layout});
}

std::vector<std::shared_ptr<const document::Document>> LessonRecorder::ranDocuments() const {
  std::vector<std::shared_ptr<const document::Document>> documents;
  for (const Made& made : m_made) documents.push_back(made.document);
  return documents;
}

std::unique_ptr<LessonRecorder> LessonRecorder::recovered(const QByteArray& saved) {
  std::optional<SavedRecording> read = readRecording(saved);
  if (!read) return nullptr;
  std::unique_ptr<LessonRecorder> recorder(new LessonRecorder);
  recorder->m_isPaused = true;
  recorder->m_head = std::move(read->head);
  recorder->m_model = std::move(read->model);
  recorder->m_firstSettings = std::move(read->settings);
  recorder->m_steps = std::move(read->steps);
  recorder->m_at = read->step;
  recorder->m_queries = std::move(read->queries);
  for (auto& document : read->ran)
    recorder->m_made.push_back({.run = 0, .document = std::move(document), .facts = std::nullopt});
  recorder->m_document = *read->document;
  recorder->m_settings = recorder->m_document.settings;
  recorder->m_now.title = std::move(read->title);
  recorder->m_now.beside = std::move(read->beside);
  recorder->m_now.layout = std::move(read->layout);
  return recorder;
}

std::string LessonRecorder::text(const std::string& model, const QString& prefix) {
  if (!m_isPaused) takeChanges();
  const std::string begin = prefix.toStdString();
  lesson::Head whole = m_head;
  whole.model = {model, 0};
  for (const RecordedQuery& query : m_queries) whole.queries.push_back({begin + query.name, 0});
  for (const lesson::Assignment& setting : m_firstSettings) whole.settings.push_back({setting, 0});
  std::vector<lesson::RecordedStep> steps = m_steps;
  for (lesson::RecordedStep& step : steps) {
    for (Action& action : step.actions) {
      if (action.kind != ActionKind::Open) continue;
      auto& name = std::get<std::string>(action.arguments.front().value);
      name = begin + name;
    }
  }
  return lesson::written(whole, steps);
}

}  // namespace spanscope::ui
