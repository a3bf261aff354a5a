// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/bench_report.h"
#include "app/cli/command.h"
#include "app/cli/diagnostics.h"
#include "app/cli/session_options.h"
#include "app/cli/terminal_output.h"
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/output_file.h"
#include "engine/lesson/answers.h"
#include "engine/lesson/filled.h"
#include "engine/lesson/lesson.h"
#include "engine/lesson/lesson_folder.h"
#include "engine/lesson/lesson_run.h"
#include "engine/lesson/page.h"
#include "engine/query/shown_text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::cli {
namespace {

struct LessonOptions {
  std::string file;
  std::string output;
  SessionOptions session;
  bool json = false;
  std::vector<std::string> answers;  ///< files with the answers of learners
};

/// A lesson without errors.
struct CheckedLesson {
  lesson::Lesson lesson;
  lesson::LessonFolder folder;
  std::vector<query::Diagnostic> diagnostics;
};

CheckedLesson checkedLesson(const std::string& file) {
  const std::filesystem::path path(file);
  const std::string text = lesson::readLessonFile(path);
  lesson::ReadLesson read = lesson::readLesson(text);
  CheckedLesson checked{.lesson = std::move(read.lesson),
                        .folder = lesson::LessonFolder(path.parent_path()),
                        .diagnostics = {}};
  std::vector<lesson::Fault> found = lesson::checkLesson(checked.lesson, checked.folder);
  read.faults.insert(read.faults.end(), std::make_move_iterator(found.begin()),
                     std::make_move_iterator(found.end()));
  checked.diagnostics = lesson::diagnosticsOf(std::move(read.faults), text);
  return checked;
}

nlohmann::ordered_json diagnosticsJson(const std::vector<query::Diagnostic>& diagnostics) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const query::Diagnostic& diagnostic : diagnostics) {
    list.push_back({{"severity", diagnostic.severity == Severity::Error ? "error" : "warning"},
                    {"line", diagnostic.position.line},
                    {"column", diagnostic.position.column},
                    {"message", diagnostic.message()}});
  }
  return list;
}

ExitCode checkLessonFile(const Context& context, const LessonOptions& options) {
  const CheckedLesson checked = checkedLesson(options.file);
  const bool isWrong = query::hasErrors(checked.diagnostics);
  const lesson::LessonCounts counts = lesson::countsOf(checked.lesson);
  if (options.json) {
    nlohmann::ordered_json json;
    json["file"] = options.file;
    json["title"] = checked.lesson.head.title;
    json["minutes"] = checked.lesson.head.minutes;
    json["steps"] = counts.steps;
    json["actions"] = counts.actions;
    json["runs"] = counts.runs;
    json["questions"] = counts.questions;
    json["claims"] = counts.claims;
    json["figures"] = counts.metrics;
    json["words"] = counts.words;
    json["estimated_minutes"] = lesson::estimatedMinutes(counts);
    json["diagnostics"] = diagnosticsJson(checked.diagnostics);
    context.streams.out << jsonText(json) << '\n';
    return isWrong ? ExitCode::WrongInput : ExitCode::Fine;
  }
  writeDiagnostics(context.streams.err, options.file, checked.diagnostics);
  if (isWrong) return ExitCode::WrongInput;
  context.streams.out << options.file << ": " << counted(counts.steps, "step") << ", "
                      << counted(counts.actions, "action") << ", " << counted(counts.runs, "run") << ", "
                      << counted(counts.questions, "question") << ", " << counted(counts.metrics, "metric")
                      << ", " << counted(counts.claims, "statement") << ", about "
                      << counted(static_cast<std::size_t>(lesson::estimatedMinutes(counts)), "minute")
                      << "\n";
  return ExitCode::Fine;
}

/// Returns the lesson. If the lesson has errors, reports these errors and returns nothing.
std::optional<CheckedLesson> rightLesson(const Context& context, const LessonOptions& options) {
  CheckedLesson checked = checkedLesson(options.file);
  writeDiagnostics(context.streams.err, options.file, checked.diagnostics);
  if (query::hasErrors(checked.diagnostics)) return std::nullopt;
  return checked;
}

lesson::LessonFacts factsOf(const Context& context, const LessonOptions& options,
                            const CheckedLesson& checked) {
  lesson::LessonRunOptions run{
      .backends = context.backends,
      .machine = options.session.settings,
      .choosesModel = !options.session.settings.model.empty(),
      .stop = context.stop,
      .report = [&context](const std::string& doing) { showProgress(context, doing); }};
  lesson::LessonFacts facts = lesson::runLesson(checked.lesson, checked.folder, run);
  showProgress(context, "");
  return facts;
}

struct LessonBlockJson {
  nlohmann::ordered_json operator()(const lesson::FilledProse& prose) const {
    nlohmann::ordered_json json{{"text", prose.markdown()}};
    for (const lesson::FilledPiece& piece : prose.pieces) {
      if (piece.kind == lesson::FilledPiece::Kind::Text) continue;
      const bool isKnown = piece.kind == lesson::FilledPiece::Kind::Metric;
      json["figures"].push_back({{"figure", piece.metric}, {isKnown ? "value" : "not_known", piece.text}});
    }
    return json;
  }
  nlohmann::ordered_json operator()(const lesson::FilledActions& actions) const {
    nlohmann::ordered_json json;
    for (const lesson::FilledAction& action : actions) json["do"].push_back(action.line);
    return json;
  }
  nlohmann::ordered_json operator()(const lesson::FilledQuestion& question) const {
    nlohmann::ordered_json json{{"question", question.text.markdown()}};
    if (!question.answer.empty()) json["answer"] = question.answer;
    for (const lesson::FilledChoice& choice : question.choices) {
      nlohmann::ordered_json one{{"text", choice.text}, {"right", nullptr}};
      if (choice.isRight) one["right"] = *choice.isRight;
      json["choices"].push_back(std::move(one));
    }
    if (!question.missing.empty()) json["not_known"] = question.missing;
    if (!question.why.pieces.empty()) json["why"] = question.why.markdown();
    return json;
  }
  nlohmann::ordered_json operator()(const lesson::FilledClaims& claims) const {
    nlohmann::ordered_json json{{"holds", nlohmann::ordered_json::array()}};
    for (const lesson::FilledClaim& claim : claims) {
      nlohmann::ordered_json one{{"claim", claim.written}, {"holds", nullptr}};
      if (claim.holds) one["holds"] = *claim.holds;
      if (claim.holds) one["values"] = {claim.left, claim.right};
      if (!claim.missing.empty()) one["not_known"] = claim.missing;
      json["holds"].push_back(std::move(one));
    }
    return json;
  }
};

nlohmann::ordered_json runsJson(const lesson::LessonFacts& facts) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const metrics::RunFacts& run : facts) {
    nlohmann::ordered_json one;
    for (const metrics::Metric& metric : metrics::all()) {
      const std::optional<metrics::Value> value = metric.of(run);
      if (!value) continue;
      std::visit([&](const auto& found) { one[metrics::lessonName(metric)] = found; }, *value);
    }
    runs.push_back(std::move(one));
  }
  return runs;
}

ExitCode runLessonFile(const Context& context, const LessonOptions& options) {
  const std::optional<CheckedLesson> checked = rightLesson(context, options);
  if (!checked) return ExitCode::WrongInput;
  const lesson::LessonFacts facts = factsOf(context, options, *checked);
  const lesson::FilledLesson filled = lesson::fill(checked->lesson, facts);
  const std::vector<std::string> failures = filled.failures();
  if (options.json) {
    nlohmann::ordered_json json;
    json["file"] = options.file;
    json["title"] = filled.title;
    json["runs"] = runsJson(facts);
    json["steps"] = nlohmann::ordered_json::array();
    for (const lesson::FilledStep& step : filled.steps) {
      nlohmann::ordered_json one{{"step", step.number}, {"title", step.title}};
      one["blocks"] = nlohmann::ordered_json::array();
      for (const lesson::FilledBlock& block : step.blocks)
        one["blocks"].push_back(std::visit(LessonBlockJson{}, block));
      json["steps"].push_back(std::move(one));
    }
    json["failures"] = failures;
    context.streams.out << jsonText(json) << '\n';
  } else {
    context.streams.out << lesson::textOf(filled);
  }
  for (const std::string& failure : failures) context.streams.err << options.file << ": " << failure << '\n';
  return failures.empty() ? ExitCode::Fine : ExitCode::RunFailed;
}

ExitCode exportLesson(const Context& context, const LessonOptions& options) {
  const std::optional<CheckedLesson> checked = rightLesson(context, options);
  if (!checked) return ExitCode::WrongInput;
  const lesson::LessonFacts facts = factsOf(context, options, *checked);
  const lesson::FilledLesson filled = lesson::fill(checked->lesson, facts);
  const std::string page = lesson::pageOf(filled, facts);
  if (options.output.empty()) {
    context.streams.out << page;
  } else {
    OutputRules rules{.inputs = {}, .unfinished = context.streams.unfinished, .stop = context.stop};
    if (const auto identity = identityOf(options.file)) rules.inputs.push_back(*identity);
    if (const std::optional<Error> error = writeFile(options.output, page, rules))
      throw OutputFailure(*error);
  }
  const std::vector<std::string> failures = filled.failures();
  for (const std::string& failure : failures) context.streams.err << options.file << ": " << failure << '\n';
  return failures.empty() ? ExitCode::Fine : ExitCode::RunFailed;
}

ExitCode gradeLesson(const Context& context, const LessonOptions& options) {
  const std::optional<CheckedLesson> checked = rightLesson(context, options);
  if (!checked) return ExitCode::WrongInput;
  std::vector<lesson::GradedLearner> learners;
  for (const std::string& file : options.answers) {
    const std::filesystem::path path(file);
    lesson::LearnerAnswers answers = lesson::readAnswers(lesson::readLessonFile(path), path);
    const std::string wanted = std::filesystem::path(options.file).filename().string();
    if (answers.lesson != wanted)
      throw Failure({.file = file,
                     .place = {},
                     .found = "answers to the lesson " + query::inQuotes(answers.lesson),
                     .expected = "answers to " + query::inQuotes(wanted)});
    learners.push_back({path.stem().string(), std::move(answers)});
  }
  const lesson::FilledLesson filled = lesson::fill(checked->lesson, factsOf(context, options, *checked));
  const std::string table = lesson::gradesCsv(filled, learners);
  if (options.output.empty()) {
    context.streams.out << table;
    return ExitCode::Fine;
  }
  OutputRules rules{.inputs = {}, .unfinished = context.streams.unfinished, .stop = context.stop};
  for (const std::string& file : options.answers) {
    if (const auto identity = identityOf(file)) rules.inputs.push_back(*identity);
  }
  if (const auto identity = identityOf(options.file)) rules.inputs.push_back(*identity);
  if (const std::optional<Error> error = writeFile(options.output, table, rules)) throw OutputFailure(*error);
  return ExitCode::Fine;
}

ExitCode listLessons(const Context& context, const LessonOptions& options) {
  const std::vector<lesson::BundledLesson> lessons = lesson::bundledLessons();
  if (options.json) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const lesson::BundledLesson& one : lessons) {
      json.push_back({{"file", one.file.string()},
                      {"title", one.head.title},
                      {"minutes", one.head.minutes},
                      {"after", one.head.after}});
    }
    context.streams.out << jsonText(json) << '\n';
    return ExitCode::Fine;
  }
  TextTable table({{"file", TextTable::Align::Left}, {"minutes"}, {"title", TextTable::Align::Left}});
  for (const lesson::BundledLesson& one : lessons)
    table.addRow({one.file.filename().string(), std::to_string(one.head.minutes), one.head.title});
  context.streams.out << table.text();
  return ExitCode::Fine;
}

/// Returns the path of the lesson: `given`, or the bundled lesson with this file name if there is no such
/// file.
std::string lessonFile(const std::string& given) {
  std::error_code error;
  if (given.empty() || given.find('/') != std::string::npos || std::filesystem::exists(given, error))
    return given;
  try {
    for (const lesson::BundledLesson& one : lesson::bundledLessons())
      if (one.file.filename() == given) return one.file.string();
  } catch (const Failure&) {
    // Without bundled lessons, the command reports that there is no such file.
  }
  return given;
}

void addLessonFile(CLI::App& command, LessonOptions& options) {
  command.add_option("FILE", options.file, "A lesson: a Markdown file, or a name from \"spanq lesson list\"")
      ->required();
}

/// Adds the options for the machine.
void addMachine(CLI::App& command, LessonOptions& options) {
  addSettings(command, options.session.settings,
              {"model", "adapter", "chat_template", "template_variables", "context", "device", "exact",
               "arithmetic", "threads"});
}

}  // namespace

void addLesson(CLI::App& app, Context& context) {
  CLI::App* group = app.add_subcommand("lesson", "Check, run, export and grade lessons");
  group->footer("Example:\n  spanq lesson run 3-prefix-caching.md\n");
  group->require_subcommand(1);

  const auto options = std::make_shared<LessonOptions>();
  const auto does = [&context, options](CLI::App* command,
                                        ExitCode (*action)(const Context&, const LessonOptions&)) {
    command->callback([&context, options, action] {
      context.action = [&context, options, action] {
        options->file = lessonFile(options->file);
        return action(context, *options);
      };
    });
  };

  CLI::App* listCommand = group->add_subcommand("list", "List the bundled lessons");
  listCommand->footer("Example:\n  spanq lesson list\n");
  listCommand->add_flag("--json", options->json, "Write JSON");
  does(listCommand, listLessons);

  CLI::App* checkCommand =
      group->add_subcommand("check", "Check a lesson: actions, nodes, settings, metrics and files");
  checkCommand->footer("Example:\n  spanq lesson check 3-prefix-caching.md\n");
  addLessonFile(*checkCommand, *options);
  checkCommand->add_flag("--json", options->json, "Write one JSON object instead of text");
  does(checkCommand, checkLessonFile);

  CLI::App* runCommand = group->add_subcommand(
      "run", "Run a lesson without a window, and write the text of the lesson with the numbers of its runs");
  runCommand->footer(
      "Example:\n  spanq lesson run 3-prefix-caching.md\n\nActions that only show a view are skipped. The "
      "command fails if a statement is false, a number is missing, or a question has no right answer.\n");
  addLessonFile(*runCommand, *options);
  addMachine(*runCommand, *options);
  runCommand->add_flag("--json", options->json, "Write one JSON object instead of text");
  does(runCommand, runLessonFile);

  CLI::App* exportCommand = group->add_subcommand(
      "export", "Run a lesson and write one web page with the numbers and pictures of its runs");
  exportCommand->footer("Example:\n  spanq lesson export 3-prefix-caching.md -o page.html\n");
  addLessonFile(*exportCommand, *options);
  exportCommand->add_option("-o,--output", options->output, "File for the page (default: standard output)")
      ->type_name("FILE");
  addMachine(*exportCommand, *options);
  does(exportCommand, exportLesson);

  CLI::App* gradeCommand =
      group->add_subcommand("grade", "Run a lesson, and write a table of the answers of a class as CSV");
  gradeCommand->footer(
      "Example:\n  spanq lesson grade resources/lessons/3-prefix-caching.md ada.json -o class.csv\n\n"
      "The window saves the answers of a learner. The table has a row for each file.\n");
  addLessonFile(*gradeCommand, *options);
  gradeCommand->add_option("ANSWERS", options->answers, "Answers of learners, JSON files")->required();
  gradeCommand->add_option("-o,--output", options->output, "File for the table (default: standard output)")
      ->type_name("FILE");
  addMachine(*gradeCommand, *options);
  does(gradeCommand, gradeLesson);
}

}  // namespace spanscope::cli
