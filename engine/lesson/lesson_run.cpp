// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/lesson/lesson_run.h"

#include "engine/base/ascii.h"
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/experiment/fidelity.h"
#include "engine/jobs/fidelity.h"
#include "engine/lesson/lesson_state.h"
#include "engine/plan/explain.h"
#include "engine/query/json/json.h"
#include "engine/query/shown_text.h"
#include "engine/trace/recorder.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/service/job_context.h"
#include "engine/workbench/service/job_service.h"
#include "engine/workbench/service/run_job.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace spanscope::lesson {
namespace {

/// Has the recorder of the session that was opened last.
class SessionWatcher final : public workbench::JobContextWatcher {
 public:
  void sessionOpens(const std::shared_ptr<trace::Recorder>& recorder) override {
    const std::lock_guard lock(m_mutex);
    m_recorder = recorder;
  }
  std::shared_ptr<trace::Recorder> recorder() const {
    const std::lock_guard lock(m_mutex);
    return m_recorder;
  }

 private:
  mutable std::mutex m_mutex;
  std::shared_ptr<trace::Recorder> m_recorder;
};

class LessonRunner {
 public:
  LessonRunner(const Lesson& lesson, const LessonFolder& folder, const LessonRunOptions& options)
      : m_lesson(lesson),
        m_folder(folder),
        m_options(options),
        m_state(folder),
        m_service(options.backends, m_watcher) {}

  LessonFacts run() {
    std::vector<Fault> faults;
    m_state.begin(m_lesson.head, faults);
    takeMachine();
    for (const Step& step : m_lesson.steps) {
      for (const Block& block : step.blocks) {
        const auto* list = std::get_if<ActionList>(&block);
        if (list == nullptr) continue;
        for (const Action& action : list->actions) {
          m_state.apply(action, faults);
          throwIfAny(step, faults);
          carryOut(step, action);
        }
      }
    }
    return std::move(m_facts);
  }

 private:
  /// A run of the lesson, with the session of this run.
  struct Made {
    RunId run = 0;
    std::vector<run::FinishedAnswer> answers;
  };

  void takeMachine() {
    const std::string& model = m_lesson.head.model.value;
    std::string chosen = m_options.machine.model;
    if (!m_options.choosesModel && model != "any" && model != "bundled") {
      auto place = m_folder.modelAt(model);
      if (auto* refused = std::get_if<query::NotGiven>(&place))
        throw Failure(errorAt("model", std::move(refused->found), std::move(refused->expected)));
      chosen = std::get<std::filesystem::path>(place).string();
    } else if (!m_options.choosesModel) {
      chosen.clear();
    }
    for (const workbench::Setting& setting : workbench::runSettings()) {
      if (setting.effect != workbench::SettingEffect::Model) continue;
      std::visit([&](auto member) { m_state.settings().*member = m_options.machine.*member; },
                 setting.member);
    }
    m_state.settings().model = chosen;
  }

  static void throwIfAny(const Step& step, const std::vector<Fault>& faults) {
    if (faults.empty()) return;
    throw Failure(
        errorAt("step " + std::to_string(step.number), faults.front().found, faults.front().expected));
  }

  void carryOut(const Step& step, const Action& action) {
    const std::string where = "step " + std::to_string(step.number);
    switch (action.kind) {
      case ActionKind::Run:
        report(where + ": run " + std::to_string(m_facts.size() + 1));
        carryOutRun(where);
        break;
      case ActionKind::Fidelity: {
        const std::size_t run = action.arguments.empty()
                                    ? m_facts.size()
                                    : std::size_t{std::get<std::uint32_t>(action.arguments[0].value)};
        report(where + ": fidelity of run " + std::to_string(run));
        measure(run - 1);
        break;
      }
      case ActionKind::Empty:
        m_service.clearCache();
        break;
      default:
        break;
    }
  }

  void report(const std::string& doing) const {
    if (m_options.report) m_options.report(doing);
  }

  void wait(workbench::JobHandle handle) {
    constexpr std::chrono::milliseconds kPeriod(5);
    const std::stop_callback stopped(m_options.stop, [&handle] { handle.stop(); });
    while (!handle.waitFor(kPeriod)) takeEvents();
    takeEvents();
    if (m_options.stop.stop_requested()) throw Failure(errorAt("lesson", "The lesson was stopped.", {}));
    handle.rethrow();
  }

  void takeEvents() {
    const std::shared_ptr<trace::Recorder> recorder = m_watcher.recorder();
    if (recorder == nullptr) return;
    if (recorder != m_recorder) {
      m_recorder = recorder;
      m_collector = {};
      m_answers = {};
    }
    std::vector<trace::Event> events;
    recorder->drain(events);
    for (const trace::Event& event : events) {
      if (const std::optional<Error> error = m_collector.take(event)) throw Failure(*error);
      m_answers.take(event);
    }
  }

  void carryOutRun(const std::string& where) {
    auto planned = m_state.plan();
    if (auto* problems = std::get_if<std::vector<query::NotGiven>>(&planned))
      throw Failure(errorAt(where, problems->front().found, problems->front().expected));
    PlannedQuery& query = std::get<PlannedQuery>(planned);
    run::RunOptions options = workbench::runOptionsOf(m_state.settings());
    options.queryJson = query::writeCanonical(query.query);
    options.explain = plan::explain(query.plan);
    const auto plan = std::make_shared<const plan::Plan>(std::move(query.plan));
    const auto work = std::make_shared<workbench::RunJob>(
        m_state.settings(),
        workbench::RunJob::Preparation{
            .prepare = [plan, options = std::move(options)](workbench::JobContext&, const retrieve::Watch&) {
              return workbench::RunJob::Prepared{.plan = plan, .options = options};
            }});
    wait(m_service.submit(work));
    std::optional<metrics::RunFacts> facts = m_collector.of(work->run());
    if (!facts) throw Failure(errorAt(where, "a run without events", "a run with its events"));
    m_facts.push_back(std::move(*facts));
    m_made.push_back({work->run(), m_answers.takeRun(work->run())});
  }

  void measure(std::size_t index) {
    const Made& made = m_made.at(index);
    wait(m_service.submit(std::make_shared<jobs::FidelityJob>(made.answers)));
    if (std::optional<metrics::RunFacts> facts = m_collector.of(made.run)) m_facts[index] = std::move(*facts);
  }

  const Lesson& m_lesson;
  const LessonFolder& m_folder;
  const LessonRunOptions& m_options;
  LessonState m_state;
  std::shared_ptr<trace::Recorder> m_recorder;  ///< whose events were taken last
  metrics::RunFactsCollector m_collector;
  experiment::FinishedAnswers m_answers;
  std::vector<Made> m_made;
  LessonFacts m_facts;
  SessionWatcher m_watcher;
  workbench::JobService m_service;
};

}  // namespace

LessonFacts runLesson(const Lesson& lesson, const LessonFolder& folder, const LessonRunOptions& options) {
  return LessonRunner(lesson, folder, options).run();
}

namespace {

class LessonChecker {
 public:
  LessonChecker(const Lesson& lesson, const LessonFolder& folder)
      : m_lesson(lesson), m_folder(folder), m_state(folder) {}

  std::vector<Fault> check() {
    checkHead();
    for (const Step& step : m_lesson.steps) {
      for (const Block& block : step.blocks) {
        std::visit([this](const auto& one) { take(one); }, block);
        if (m_faults.size() >= kMaxFaults) return std::move(m_faults);
      }
    }
    // A question may use a metric of a later run.
    for (const auto& [ref, what] : m_later) checkMetric(ref, what);
    for (const Placed<std::string>& query : m_lesson.head.queries) {
      const std::vector<std::string>& opened = m_state.opened();
      if (std::ranges::find(opened, query.value) == opened.end())
        warn(query.offset,
             "the query " + query::inQuotes(query.value) + /*id:never-opened*/ ", which is never opened",
             "an action \"open\"");
    }
    return std::move(m_faults);
  }

 private:
  void fault(Offset offset, std::string found, std::string expected, std::string hint = {}) {
    m_faults.push_back({offset, std::move(found), std::move(expected), std::move(hint)});
  }
  void warn(Offset offset, std::string found, std::string expected) {
    m_faults.push_back({offset, std::move(found), std::move(expected), {}, true});
  }

  void checkHead() {
    const Head& head = m_lesson.head;
    if (head.model.value != "bundled" && head.model.value != "any") {
      auto place = m_folder.modelAt(head.model.value);
      if (auto* refused = std::get_if<query::NotGiven>(&place))
        fault(head.model.offset, std::move(refused->found), std::move(refused->expected));
    }
    for (const Placed<std::string>& query : head.queries) {
      if (!query.value.starts_with(kExample)) {
        if (auto refused = refusedPath(query.value))
          fault(query.offset, std::move(refused->found), std::move(refused->expected));
      }
    }
    m_state.begin(head, m_faults);
  }

  /// Returns whether a run exists before this place. Reports a fault if the run does not exist.
  bool isRunYet(std::uint32_t run, Offset offset, const char* what) {
    if (run <= m_runs) return true;
    const std::string soFar =
        m_runs == 0 ? "No run is" : "Only " + counted(m_runs, "run") + (m_runs == 1 ? " is" : " are");
    fault(offset, "run " + std::to_string(run) + " in " + what, /*id:earlier-run*/ "a run before this line",
          soFar + /*id:stands-before-place*/ " before this line." +
              (run <= m_lesson.runs() ? /*id:text-may-name*/
                   " A text may use metrics of earlier runs only. A question may also use later runs."
                                      : ""));
    return false;
  }

  void checkMetric(const MetricRef& ref, const char* what) {
    if (!isRunYet(ref.run, ref.offset, what)) return;
    const bool isMeasured = m_measured.contains(ref.run);
    if (ref.metric->needs == metrics::Needs::Fidelity && !isMeasured) {
      fault(ref.offset, "the " + metrics::lessonName(*ref.metric) + " of run " + std::to_string(ref.run),
            /*id:measure-fidelity-run*/ "\"measure fidelity\" of this run, before the metric");
    }
    if (!ref.node) return;
    const std::set<NodePath>& nodes = m_nodes[ref.run - 1];
    if (!nodes.contains(*ref.node)) {
      fault(ref.offset, "the node " + query::inQuotes(*ref.node),
            /*id:place-node-query-run*/ "the path of a node in the query of run " + std::to_string(ref.run));
    }
  }

  void take(const Prose& prose) {
    if (prose.when)
      visitMetrics(*prose.when, [this](const MetricRef& ref) { checkMetric(ref, "a condition"); });
    for (const ProsePiece& piece : prose.pieces) {
      if (const auto* metric = std::get_if<Expression>(&piece))
        visitMetrics(*metric, [this](const MetricRef& ref) { checkMetric(ref, "a text"); });
    }
    for (const Placed<Target>& link : prose.links) checkTarget(link.value, link.offset);
  }

  void take(const ClaimList& list) {
    if (list.where) visitMetrics(*list.where, [this](const MetricRef& ref) { checkMetric(ref, "a claim"); });
    for (const Comparison& claim : list.claims)
      visitMetrics(claim, [this](const MetricRef& ref) { checkMetric(ref, "a claim"); });
  }

  void take(const Question& question) {
    take(question.text);
    const auto later = [this](const MetricRef& ref) { m_later.emplace_back(ref, "a question"); };
    if (question.answer) visitMetrics(*question.answer, later);
    for (const QuestionChoice& choice : question.choices) visitMetrics(choice.isRight, later);
    if (!question.why) return;
    for (const ProsePiece& piece : question.why->pieces) {
      if (const auto* metric = std::get_if<Expression>(&piece)) visitMetrics(*metric, later);
    }
    for (const Placed<Target>& link : question.why->links) checkTarget(link.value, link.offset);
  }

  void checkTarget(const Target& target, Offset offset) {
    if (target.kind == Target::Kind::Dock) return;
    if (target.kind == Target::Kind::Node) {
      if (!m_state.hasDocument())
        fault(offset, /*id:node-while-no*/ "a node while no query is open", "an action \"open\" before it");
      else if (!m_state.hasNode(target.node))
        fault(offset, "the node " + query::inQuotes(target.node),
              /*id:place-node-query*/ "the path of a node in the query at this step");
    } else if (m_runs == 0) {
      fault(offset, written(target) + /*id:before-first-run*/ " before the first run",
            "an action \"run\" before it");
    }
  }

  void take(const ActionList& list) {
    for (const Action& action : list.actions) {
      m_state.apply(action, m_faults);
      takeOther(action);
    }
  }

  void takeOther(const Action& action) {
    switch (action.kind) {
      case ActionKind::Run:
        run(action);
        break;
      case ActionKind::Select:
        checkTarget(std::get<Target>(action.arguments[0].value), action.arguments[0].offset);
        break;
      case ActionKind::Scrub:
      case ActionKind::Wait:
        if (m_runs == 0)
          fault(action.offset, /*id:moment-before-run*/ "a moment before the first run",
                "an action \"run\" before it");
        break;
      case ActionKind::Compare: {
        const std::uint32_t run = std::get<std::uint32_t>(action.arguments[0].value);
        if (isRunYet(run, action.arguments[0].offset, "a comparison") && run == m_runs)
          fault(action.arguments[0].offset, /*id:last-run-beside*/ "a comparison of the last run with itself",
                "an earlier run");
        break;
      }
      case ActionKind::Fidelity: {
        if (m_runs == 0) {
          fault(action.offset, /*id:fidelity-before-run*/ "\"measure fidelity\" before the first run",
                "an action \"run\" before it");
          break;
        }
        const std::uint32_t run =
            action.arguments.empty() ? m_runs : std::get<std::uint32_t>(action.arguments[0].value);
        if (!isRunYet(run, action.offset, "a measurement")) break;
        if (m_session[run - 1] != sessionSettings())
          fault(action.offset,
                "run " + std::to_string(run) +
                    /*id:whose-session-ended*/ ", which belongs to an earlier session",
                /*id:run-under-present*/ "a run with the current model and cache settings");
        m_measured.insert(run);
        break;
      }
      default:
        break;
    }
  }

  workbench::RunSettings sessionSettings() const {
    return workbench::onlyThose(m_state.settings(),
                                {workbench::SettingEffect::Model, workbench::SettingEffect::Session});
  }

  void run(const Action& action) {
    if (m_runs == kMaxRuns) {
      if (!m_saidRuns) fault(action.offset, "more than " + counted(kMaxRuns, "run"), "fewer");
      m_saidRuns = true;
      return;
    }
    ++m_runs;
    m_session.push_back(sessionSettings());
    std::set<NodePath>& nodes = m_nodes.emplace_back();
    auto planned = m_state.plan();
    if (auto* problems = std::get_if<std::vector<query::NotGiven>>(&planned)) {
      // The nodes of this run count as correct, because one error is enough.
      for (query::NotGiven& problem : *problems)
        fault(action.offset, std::move(problem.found), std::move(problem.expected), std::move(problem.hint));
      return;
    }
    addNodes(std::get<PlannedQuery>(planned).query, {}, nodes);
  }

  static void addNodes(const query::Node& node, const NodePath& path, std::set<NodePath>& nodes) {
    nodes.insert(path);
    for (const query::ChildRef& child : query::childrenOf(node))
      addNodes(*child.node, path + child.step, nodes);
  }

  const Lesson& m_lesson;
  const LessonFolder& m_folder;
  LessonState m_state;
  std::vector<Fault> m_faults;
  std::uint32_t m_runs = 0;
  bool m_saidRuns = false;
  std::set<std::uint32_t> m_measured;             ///< runs whose fidelity was measured
  std::vector<std::set<NodePath>> m_nodes;        ///< by run
  std::vector<workbench::RunSettings> m_session;  ///< by run
  std::vector<std::pair<MetricRef, const char*>> m_later;
};

std::size_t metricsIn(const Prose& prose) {
  return static_cast<std::size_t>(std::ranges::count_if(
      prose.pieces, [](const ProsePiece& piece) { return std::holds_alternative<Expression>(piece); }));
}

std::size_t wordsIn(std::string_view text) {
  std::size_t words = 0;
  bool isCounted = false;  // the current word, which has a letter or a digit
  for (const char c : text) {
    const bool isInWord = isDigit(c) || isLetter(c);
    words += isInWord && !isCounted ? 1 : 0;
    isCounted = c != ' ' && c != '\n' && (isCounted || isInWord);
  }
  return words;
}

/// Counts a metric as one word. A learner reads one of the two texts of a condition.
std::size_t wordsIn(const Prose& prose) {
  if (prose.isOtherwise) return 0;
  std::size_t words = metricsIn(prose);
  for (const ProsePiece& piece : prose.pieces) {
    if (const auto* text = std::get_if<std::string>(&piece)) words += wordsIn(*text);
  }
  return words;
}

}  // namespace

LessonCounts countsOf(const Lesson& lesson) {
  LessonCounts counts;
  counts.steps = lesson.steps.size();
  counts.runs = lesson.runs();
  for (const Step& step : lesson.steps) {
    counts.words += wordsIn(step.title);
    for (const Block& block : step.blocks) {
      if (const auto* prose = std::get_if<Prose>(&block)) {
        counts.metrics += metricsIn(*prose);
        counts.words += wordsIn(*prose);
      }
      if (const auto* list = std::get_if<ActionList>(&block)) {
        counts.actions += list->actions.size();
        counts.tasks += list->isForLearner ? list->actions.size() : 0;
      }
      if (const auto* list = std::get_if<ClaimList>(&block)) counts.claims += list->claims.size();
      if (const auto* question = std::get_if<Question>(&block)) {
        ++counts.questions;
        counts.metrics += metricsIn(question->text);
        counts.words += wordsIn(question->text) + (question->why ? wordsIn(*question->why) : 0);
        for (const QuestionChoice& choice : question->choices) counts.words += wordsIn(choice.text);
      }
    }
  }
  return counts;
}

std::int64_t estimatedMinutes(const LessonCounts& counts) {
  constexpr double kWords = 150;  // per minute
  constexpr double kView = 0.25;  // minutes
  constexpr double kAction = 0.5;
  const double minutes = static_cast<double>(counts.words) / kWords +
                         kView * static_cast<double>(counts.steps) +
                         kAction * static_cast<double>(counts.questions + counts.tasks);
  return std::max(std::int64_t{1}, static_cast<std::int64_t>(std::lround(minutes)));
}

std::vector<Fault> checkLesson(const Lesson& lesson, const LessonFolder& folder) {
  return LessonChecker(lesson, folder).check();
}

}  // namespace spanscope::lesson
