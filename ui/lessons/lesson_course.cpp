// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lessons/lesson_course.h"

#include "engine/base/problem_sentence.h"
#include "engine/lesson/lesson_run.h"
#include "engine/query/surroundings.h"
#include "engine/workbench/settings.h"
#include "ui/words/tr.h"

#include <QFileInfo>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <span>
#include <utility>
#include <variant>

namespace spanscope::ui {

namespace {

using lesson::Action;
using lesson::ActionList;
using lesson::Question;

bool selects(const lesson::Block& block) {
  const auto* list = std::get_if<ActionList>(&block);
  return list != nullptr && std::any_of(list->actions.begin(), list->actions.end(), [](const Action& action) {
           return action.kind == lesson::ActionKind::Select;
         });
}

std::uint32_t lastRunOf(const Question& question) {
  std::uint32_t last = 0;
  const auto take = [&last](const lesson::MetricRef& metric) { last = std::max(last, metric.run); };
  if (question.answer) lesson::visitMetrics(*question.answer, take);
  for (const lesson::QuestionChoice& choice : question.choices) lesson::visitMetrics(choice.isRight, take);
  return last;
}

}  // namespace

LessonCourse::LessonCourse(std::shared_ptr<const LessonFile> file, LessonStage& stage, QObject* parent)
    : QObject(parent), m_file(std::move(file)), m_stage(stage) {}

void LessonCourse::takeMachine(lesson::LessonState& desk) const {
  const std::string& model = lesson().head.model.value;
  const document::RunSettings machine = m_stage.machine();
  if (model == "any") {
    for (const workbench::Setting& setting : workbench::runSettings()) {
      if (setting.effect != workbench::SettingEffect::Model) continue;
      std::visit([&](auto member) { desk.settings().*member = machine.*member; }, setting.member);
    }
    return;
  }
  desk.settings().device = machine.device;
  if (model == "bundled") return;
  const auto place = m_file->folder.modelAt(model);
  if (const auto* found = std::get_if<std::filesystem::path>(&place)) desk.settings().model = found->string();
}

void LessonCourse::begin(std::size_t step) {
  std::vector<lesson::Fault> faults;
  lesson::LessonState desk(m_file->folder);
  desk.begin(lesson().head, faults);
  takeMachine(desk);
  m_now = {};
  m_now.desk = std::make_shared<const lesson::LessonState>(std::move(desk));
  m_begun = true;
  m_mark = m_stage.engineMark();
  m_seen = m_mark;
  m_goal = std::min(step, steps() - 1);
  proceed();
}

const LessonCourse::State& LessonCourse::stateInView() const {
  return m_at < m_ends.size() ? m_ends[m_at] : m_now;
}

document::Document LessonCourse::documentOf(const State& state) const {
  document::Document document = state.desk->document();
  document.settings = state.desk->settings();
  document.settings.server = m_server;
  return document;
}

void LessonCourse::setServer(const std::string& name) {
  m_server = name;
  for (Made& made : m_made) made.document.settings.server = name;
}

const document::Document* LessonCourse::document() const {
  const State& state = stateInView();
  return state.desk && state.desk->hasDocument() ? &state.desk->document() : nullptr;
}

bool LessonCourse::isFree() const {
  const auto waitsForLearner = [](const lesson::Block& block) {
    const auto* list = std::get_if<lesson::ActionList>(&block);
    return (list != nullptr && list->isForLearner) || std::holds_alternative<lesson::Question>(block);
  };
  const auto acts = [](const lesson::Block& block) {
    return std::holds_alternative<lesson::ActionList>(block) ||
           std::holds_alternative<lesson::Question>(block);
  };
  const std::vector<lesson::Step>& steps = lesson().steps;
  if (std::ranges::any_of(steps[m_at].blocks, waitsForLearner)) return false;
  return std::ranges::none_of(std::span(steps).subspan(m_at + 1), [&](const lesson::Step& step) {
    return std::ranges::any_of(step.blocks, acts);
  });
}

bool LessonCourse::isPlaying(const document::Document* shown) const {
  if (m_isBusy || !m_begun || isFree()) return false;
  const bool hasTasks = !tasks().empty();
  if (hasTasks && m_stage.isBusy()) return false;
  if (m_stage.engineMark() != m_seen) return true;
  if (hasTasks) return shown == nullptr;
  const State& state = stateInView();
  if (!state.desk->hasDocument()) return false;
  return shown == nullptr || *shown != documentOf(state);
}

void LessonCourse::fail(const QString& problem) {
  m_working = Working::Nothing;
  m_isBusy = false;
  m_problem = problem;
  m_goal = m_step;
  rest();
}

void LessonCourse::proceed() {
  m_problem.clear();
  while (true) {
    const lesson::Step& step = lesson().steps[m_step];
    while (m_block < step.blocks.size()) {
      const lesson::Block& block = step.blocks[m_block];
      if (std::holds_alternative<Question>(block)) {
        const QuestionPlace place{m_step, m_block};
        if (m_goal <= m_step && !m_answers.contains(place)) {
          return rest();
        }
        m_answers.try_emplace(place);
      } else if (const auto* list = std::get_if<ActionList>(&block)) {
        while (m_action < list->actions.size()) {
          if (list->isForLearner && m_goal <= m_step && m_action >= m_helped) return rest();
          // carryOut() has reported the event for which the course waits.
          if (!carryOut(list->actions[m_action])) return;
          ++m_action;
        }
        m_action = 0;
        m_helped = 0;
      }
      ++m_block;
    }
    if (m_goal <= m_step || m_step + 1 == steps()) break;
    m_ends.push_back(m_now);
    ++m_step;
    m_block = 0;
  }
  rest();
}

void LessonCourse::rest() {
  m_at = m_step;
  // While a question waits, the stage hides its answer.
  if (m_isStale || waiting()) showState(m_now, tr("Lesson"));
  arrive();
}

void LessonCourse::arrive() {
  if (dock() == QLatin1String("rotation") && m_stage.startRotation()) {
    m_working = Working::Rotation;
    m_isBusy = true;
  }
  Q_EMIT changed();
}

void LessonCourse::work(Working working) {
  m_working = working;
  m_isBusy = true;
  m_at = m_step;
  Q_EMIT changed();
}

bool LessonCourse::carryOut(const Action& action) {
  const ActionRow& row = actionRow(action.kind);
  if (row.step == ActionStep::Run) return startRun();
  if (row.step == ActionStep::Fidelity) {
    m_measured = action.arguments.empty()
                     ? m_made.size() - 1
                     : std::size_t{std::get<std::uint32_t>(action.arguments[0].value)} - 1;
    const QString refused = m_stage.startFidelity(m_made[m_measured].run);
    if (!refused.isEmpty()) {
      fail(refused);
      return false;
    }
    work(Working::Fidelity);
    return false;
  }
  if (row.step == ActionStep::Empty) {
    m_stage.emptyCache();
    m_mark = m_stage.engineMark();
    m_cacheLog.push_back(kEmptied);
    return true;
  }
  if (row.note != nullptr) row.note(m_now.view, action);
  m_isStale = true;
  if (row.step == ActionStep::Document) {
    auto desk = std::make_shared<lesson::LessonState>(*m_now.desk);
    std::vector<lesson::Fault> faults;
    desk->apply(action, faults);
    if (!faults.empty()) {
      fail(QString::fromStdString(problemSentence(faults.front().found, faults.front().expected)));
      return false;
    }
    m_now.desk = std::move(desk);
    if (action.kind == lesson::ActionKind::Open)
      m_now.query = std::get<std::string>(action.arguments.front().value);
    bringDocument(m_now, changeName(action.kind));
  }
  return true;
}

bool LessonCourse::startRun() {
  // A run of the learner has changed the cache.
  if (m_stage.engineMark() != m_mark) return repeatRuns();
  // A waiting learner sees the running query.
  if (m_isStale && m_goal <= m_step)
    showState(m_now, changeName(lesson::ActionKind::Run));
  else
    bringDocument(m_now, changeName(lesson::ActionKind::Run));
  m_before = m_stage.engineMark().newest;
  const QString refused = m_stage.startRun();
  if (!refused.isEmpty()) {
    fail(refused);
    return false;
  }
  work(Working::Run);
  return false;
}

bool LessonCourse::repeatRuns() {
  if (m_working != Working::Repeat) {
    m_stage.emptyCache();
    m_repeated = 0;
    work(Working::Repeat);
  }
  while (m_repeated < m_cacheLog.size() && m_cacheLog[m_repeated] == kEmptied) {
    m_stage.emptyCache();
    ++m_repeated;
  }
  if (m_repeated == m_cacheLog.size()) {
    m_working = Working::Nothing;
    m_mark = m_stage.engineMark();
    return startRun();
  }
  const Made& made = m_made[m_cacheLog[m_repeated]];
  m_stage.showQuery(QString::fromStdString(made.query), made.document, tr("Lesson"));
  m_before = m_stage.engineMark().newest;
  const QString refused = m_stage.startRun();
  if (!refused.isEmpty()) fail(refused);
  return false;
}

void LessonCourse::readFacts(std::size_t index) {
  const std::shared_ptr<const TraceStore> trace = m_stage.traceOf(m_made[index].run);
  if (trace == nullptr) return;
  metrics::RunFactsCollector collector;
  for (const trace::Event& event : trace->events()) {
    // The views report events that contradict earlier events.
    static_cast<void>(collector.take(event));
  }
  std::optional<metrics::RunFacts> facts = collector.of(m_made[index].run);
  if (!facts) return;
  if (index == m_facts.size()) m_facts.emplace_back();
  if (!facts->fidelity) facts->fidelity = m_facts[index].fidelity;
  m_facts[index] = std::move(*facts);
}

std::vector<LessonCourse::Task> LessonCourse::tasks() const {
  const auto& blocks = lesson().steps[m_step].blocks;
  if (!m_begun || m_isBusy || m_at != m_step || m_block >= blocks.size()) return {};
  const auto* list = std::get_if<ActionList>(&blocks[m_block]);
  if (list == nullptr || !list->isForLearner) return {};
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < list->actions.size(); ++i)
    tasks.push_back({.action = &list->actions[i], .isDone = i < m_action});
  return tasks;
}

void LessonCourse::doTasks() {
  m_helped = tasks().size();
  if (m_helped > 0) proceed();
}

void LessonCourse::see() {
  const std::vector<Task> all = tasks();
  if (all.empty()) return;
  const document::Document* const shown = m_stage.shownDocument();
  if (shown == nullptr || !m_now.desk->hasDocument()) return;
  // The learner may carry out the next changes in any order.
  State wanted = m_now;
  std::optional<State> reached;
  std::size_t done = m_action;
  for (std::size_t i = m_action; i < all.size(); ++i) {
    const ActionRow& row = actionRow(all[i].action->kind);
    if (row.step != ActionStep::Document) break;
    auto desk = std::make_shared<lesson::LessonState>(*wanted.desk);
    std::vector<lesson::Fault> faults;
    desk->apply(*all[i].action, faults);
    wanted.desk = std::move(desk);
    if (row.note != nullptr) row.note(wanted.view, *all[i].action);
    if (!faults.empty() || !isAsWanted(*shown, documentOf(wanted))) continue;
    reached = wanted;
    done = i + 1;
  }
  if (!reached) return;
  m_now = std::move(*reached);
  m_action = done;
  m_isStale = true;
  proceed();
}

void LessonCourse::takeLearnersRun(const QString& problem) {
  const std::vector<Task> all = tasks();
  if (m_action >= all.size() || all[m_action].action->kind != lesson::ActionKind::Run || !problem.isEmpty())
    return;
  const document::Document* const shown = m_stage.shownDocument();
  if (shown == nullptr || !isAsWanted(*shown, documentOf(m_now))) return;
  const EngineMark now = m_stage.engineMark();
  // The learner has done another job, such as a measurement.
  if (now == m_mark) return;
  if (now.emptied != m_mark.emptied || now.runs != m_mark.runs + 1) {
    // Another run has changed the cache. The lesson restores the cache and repeats the run.
    m_helped = m_action + 1;
    proceed();
    return;
  }
  m_before = m_mark.newest;
  m_working = Working::Run;
  endRun(problem);
}

void LessonCourse::jobEnded(const QString& problem) {
  if (m_stage.isBusy()) return;
  if (m_working == Working::Nothing) return takeLearnersRun(problem);
  if (m_working == Working::Rotation) {
    // The dock shows a problem of its job.
    m_working = Working::Nothing;
    m_isBusy = false;
    Q_EMIT changed();
    return;
  }
  if (m_working == Working::Fidelity) {
    readFacts(m_measured);
    if (!problem.isEmpty()) return fail(problem);
    m_working = Working::Nothing;
    m_isBusy = false;
    m_mark = m_stage.engineMark();
    ++m_action;
    m_isStale = true;
    return proceed();
  }
  endRun(problem);
}

void LessonCourse::endRun(const QString& problem) {
  const RunId run = m_stage.engineMark().newest;
  if (run == m_before || !problem.isEmpty()) {
    return fail(problem.isEmpty() ? tr("The run did not start.") : problem);
  }
  const bool isRepeated = m_working == Working::Repeat;
  const std::size_t index = isRepeated ? m_cacheLog[m_repeated] : m_made.size();
  if (!isRepeated) m_made.push_back({.run = run, .query = m_now.query, .document = documentOf(m_now)});
  m_made[index].run = run;
  readFacts(index);
  if (index >= m_facts.size() || m_facts[index].outcome != trace::RunOutcome::Finished) {
    if (!isRepeated) {
      m_made.pop_back();
      if (m_facts.size() > m_made.size()) m_facts.pop_back();
    }
    return fail(tr("The run was stopped before its end."));
  }
  if (isRepeated) {
    ++m_repeated;
    repeatRuns();
    return;
  }
  m_working = Working::Nothing;
  m_isBusy = false;
  m_mark = m_stage.engineMark();
  m_cacheLog.push_back(index);
  m_now.runs = static_cast<std::uint32_t>(m_made.size());
  actionRow(lesson::ActionKind::Run).note(m_now.view, {});
  ++m_action;
  m_isStale = true;
  proceed();
}

void LessonCourse::goOn() {
  if (m_isBusy || m_problem.isEmpty()) return;
  proceed();
}

void LessonCourse::bringDocument(const State& state, const QString& change) {
  if (state.desk->hasDocument())
    m_stage.showQuery(QString::fromStdString(state.query), documentOf(state), change);
}

void LessonCourse::showState(const State& state, const QString& change) {
  bringDocument(state, change);
  std::vector<std::pair<RunId, const metrics::RunFacts*>> runs;
  for (std::size_t index = 0; index < state.runs; ++index)
    runs.emplace_back(m_made[index].run, &m_facts[index]);
  LessonView view = state.view;
  const std::optional<QuestionPlace> open = waiting();
  m_stage.hidePrediction(open.has_value() || hasOpenAnswer());
  if (open && asksAboutEnded(*open)) {
    // The views show the beginning of the run that the question asks about.
    runs.resize(decidedBy(*open));
    view.moment = lesson::Moment{.kind = lesson::Moment::Kind::Start, .number = 0, .event = {}};
    view.compared = 0;
  }
  show(m_stage, view, state.desk->hasDocument() ? &state.desk->document() : nullptr, runs);
  m_isStale = false;
  m_seen = m_stage.engineMark();
}

bool LessonCourse::hasOpenAnswer() const {
  return std::ranges::any_of(m_answers, [this](const auto& entry) {
    return entry.second.isGiven() && decidedBy(entry.first) > m_facts.size();
  });
}

void LessonCourse::goTo(std::size_t step) {
  if (m_isBusy || step >= steps() || !m_begun) return;
  if (step <= m_step && (step < m_step || m_at != m_step)) {
    m_at = step;
    showState(stateInView(), tr("Lesson"));
    arrive();
    return;
  }
  if (step == m_step) return comeBack();
  m_at = m_step;
  showState(m_now, tr("Lesson"));
  m_goal = step;
  proceed();
}

void LessonCourse::back() {
  if (m_at > 0) goTo(m_at - 1);
}

void LessonCourse::comeBack() {
  if (m_isBusy || !m_begun) return;
  showState(stateInView(), tr("Lesson"));
  // The state of the step is restored except for the cache. The next run restores the cache.
  arrive();
}

void LessonCourse::answer(const QuestionPlace& place, LessonAnswer answer) {
  if (m_isBusy || m_answers.contains(place)) return;
  m_answers[place] = std::move(answer);
  // The stage has hidden the answer.
  m_isStale = true;
  if (place == QuestionPlace{m_step, m_block})
    proceed();
  else
    Q_EMIT changed();
}

void LessonCourse::changeAnswer(const QuestionPlace& place, LessonAnswer answer) {
  if (m_isBusy || !m_answers.contains(place) || decidedBy(place) <= m_facts.size()) return;
  m_answers[place] = std::move(answer);
  Q_EMIT changed();
}

std::vector<lesson::Target> LessonCourse::spokenOf() const {
  std::vector<lesson::Target> found;
  const auto take = [&found](const lesson::Target& target) {
    if (std::find(found.begin(), found.end(), target) == found.end()) found.push_back(target);
  };
  const std::vector<lesson::Block>& blocks = lesson().steps[m_at].blocks;
  // A selection of an earlier step is not a target of this step.
  bool isSelected = false;
  for (std::size_t i = 0; i < readable(); ++i) {
    isSelected = isSelected || selects(blocks[i]);
    const auto* question = std::get_if<Question>(&blocks[i]);
    const lesson::Prose* prose =
        question != nullptr ? &question->text : std::get_if<lesson::Prose>(&blocks[i]);
    if (prose == nullptr) continue;
    for (const lesson::Placed<lesson::Target>& link : prose->links) take(link.value);
  }
  const std::optional<lesson::Target>& selected = stateInView().view.target;
  // After a swap, a link to the selected node can have the old path of this node.
  const auto isSelection = [&](const lesson::Target& link) { return afterSwaps(link) == *selected; };
  if (isSelected && selected && std::ranges::none_of(found, isSelection)) take(*selected);
  for (const Task& task : tasks()) {
    for (const lesson::Argument& argument : task.action->arguments) {
      if (const auto* target = std::get_if<lesson::Target>(&argument.value)) take(*target);
    }
  }
  return found;
}

lesson::Target LessonCourse::afterSwaps(lesson::Target target) const {
  if (target.kind != lesson::Target::Kind::Node) return target;
  const std::vector<lesson::Block>& blocks = lesson().steps[m_at].blocks;
  const std::size_t done = m_at < m_step ? blocks.size() : std::min(m_block, blocks.size());
  const auto names = [&](std::size_t index) {
    const auto* question = std::get_if<Question>(&blocks[index]);
    const lesson::Prose* prose =
        question != nullptr ? &question->text : std::get_if<lesson::Prose>(&blocks[index]);
    return prose != nullptr &&
           std::ranges::any_of(prose->links, [&](const auto& link) { return link.value == target; });
  };
  std::size_t last = blocks.size();  // the last block that names the target
  for (std::size_t i = 0; i < readable(); ++i)
    if (names(i)) last = i;
  for (std::size_t i = last; i < done; ++i) {
    const auto* list = std::get_if<ActionList>(&blocks[i]);
    if (list == nullptr) continue;
    for (const Action& action : list->actions) {
      if (action.kind == lesson::ActionKind::Swap) target = afterSwap(std::move(target), action);
    }
  }
  return target;
}

std::optional<Selection> LessonCourse::selectionFor(const lesson::Target& named) const {
  const lesson::Target target = afterSwaps(named);
  const State& state = stateInView();
  if (m_isBusy || !m_begun || !state.desk->hasDocument()) return std::nullopt;
  const metrics::RunFacts* run = state.runs == 0 ? nullptr : &m_facts[state.runs - 1];
  return selectionOf(target, state.desk->document(), run);
}

void LessonCourse::point(const lesson::Target& target) {
  if (const std::optional<Selection> selection = selectionFor(target)) m_stage.select(*selection);
}

std::size_t LessonCourse::readable() const {
  const std::size_t all = lesson().steps[m_at].blocks.size();
  if (m_at < m_step) return all;
  return waiting() || !tasks().empty() ? m_block + 1 : std::min(m_block, all);
}

std::optional<QuestionPlace> LessonCourse::waiting() const {
  if (m_at != m_step || m_isBusy || m_block >= lesson().steps[m_step].blocks.size()) return std::nullopt;
  if (!std::holds_alternative<Question>(lesson().steps[m_step].blocks[m_block])) return std::nullopt;
  const QuestionPlace place{m_step, m_block};
  return m_answers.contains(place) ? std::nullopt : std::optional(place);
}

const LessonAnswer* LessonCourse::answerTo(const QuestionPlace& place) const {
  const auto found = m_answers.find(place);
  return found == m_answers.end() ? nullptr : &found->second;
}

bool LessonCourse::asksAboutEnded(const QuestionPlace& place) const {
  const auto& question = std::get<Question>(lesson().steps[place.step].blocks[place.block]);
  const std::uint32_t run = lastRunOf(question);
  // A block is chosen in the views of the run.
  return question.kind != Question::Kind::Block && run > 0 && run <= m_facts.size();
}

std::uint32_t LessonCourse::decidedBy(const QuestionPlace& place) const {
  return lastRunOf(std::get<Question>(lesson().steps[place.step].blocks[place.block]));
}

QString LessonCourse::dock() const {
  // The learner drags nodes on the canvas.
  for (const Task& task : tasks()) {
    if (!task.isDone && task.action->kind == lesson::ActionKind::Swap) return QStringLiteral("canvas");
  }
  const LessonView& view = stateInView().view;
  return view.docks.empty() ? QString() : QString::fromStdString(view.docks.back());
}

std::optional<std::size_t> LessonCourse::selectedBlock(const Selection& selection) const {
  const State& state = stateInView();
  if (state.runs == 0) return std::nullopt;
  return blockNumber(selection, m_facts[state.runs - 1]);
}

QString LessonFile::key() const {
  const QFileInfo file(path);
  const QFileInfo bundled(QString::fromStdString(lesson::bundledLessonDirectory().string()));
  return file.absolutePath() == bundled.absoluteFilePath() ? file.fileName() : file.absoluteFilePath();
}

std::shared_ptr<const LessonFile> openLesson(const QString& path) {
  const std::filesystem::path file(path.toStdString());
  const std::string text = lesson::readLessonFile(file);
  lesson::ReadLesson read = lesson::readLesson(text);
  auto opened = std::make_shared<LessonFile>(LessonFile{.path = path,
                                                        .lesson = std::move(read.lesson),
                                                        .folder = lesson::LessonFolder(file.parent_path()),
                                                        .diagnostics = {}});
  std::vector<lesson::Fault> found = lesson::checkLesson(opened->lesson, opened->folder);
  read.faults.insert(read.faults.end(), std::make_move_iterator(found.begin()),
                     std::make_move_iterator(found.end()));
  opened->diagnostics = lesson::diagnosticsOf(std::move(read.faults), text);
  return opened;
}

}  // namespace spanscope::ui
