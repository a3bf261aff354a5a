// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/needle.h"

#include "engine/base/error.h"
#include "engine/plan/planner.h"
#include "engine/plan/prompt_children.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <utility>

namespace spanscope::experiment {
namespace {

/// The prompts of the reference's benchmark, letter by letter. The bundled model was trained on these
/// prompts.
constexpr const char* kSystem = "Your are an AI that responds to questions with a plain JSON array.";
constexpr const char* kQuestion =
    R"(Tell me the names of the cats mentioned, as plain JSON array of the names, no markdown or html or any )"
    R"(other text)";
constexpr const char* kCombine = "Combine these arrays into one array";

/// Names that the bundled model reads correctly from a document alone. The cause of a miss is then the text
/// around the name.
constexpr std::array kNames = {
    "Tom",    "Shadow",  "Waffles", "Bandit", "Biscuit", "Pepper", "Luna",  "Oscar", "Simba",  "Coco",
    "Ginger", "Felix",   "Nala",    "Bella",  "Max",     "Oreo",   "Misty", "Olive", "Ziggy",  "Daisy",
    "Mango",  "Pickles", "Theo",    "Nina",   "Tiger",   "Leo",    "Nemo",  "Salem", "Tigger", "Tina",
    "Sam",    "Rex",     "Rocky",   "Cookie", "Loki",    "Momo",   "Pixel", "Maple", "Basil",  "Domino"};
static_assert(kNames.size() == kMostNeedles);

constexpr std::array kHay = {"The weather was mild that day.", "Two men carried a ladder.",
                             "The stairs are steep.",          "The market closes at noon.",
                             "The river is wide in spring.",   "The soup was cold.",
                             "A boat left the pier.",          "The clock in the tower was slow.",
                             "The book lay on the table.",     "Birds sat on the roof.",
                             "Some windows were open.",        "It was a quiet evening.",
                             "The lamp gave little light.",    "The garden needs water.",
                             "The train was late again.",      "The film was long.",
                             "The shop sells paper and ink."};

std::int32_t wordCount(const std::string& text) {
  return static_cast<std::int32_t>(std::count(text.begin(), text.end(), ' ')) + 1;
}

query::Node message(query::Role role, std::string text) {
  return {query::Message{.role = role, .text = std::move(text)}};
}

bool holdsText(const plan::PromptNode& node, const std::string& text) {
  const auto* said = std::get_if<plan::PromptMessage>(&node.value);
  if (said != nullptr && said->text == text) return true;
  return std::ranges::any_of(childrenOf(node), [&text](const auto& child) { return holdsText(child, text); });
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// Returns the reason why the run missed one name. Nothing: the run found the name.
std::optional<MissCause> causeOf(const plan::Plan& plan, const run::RunResult& result,
                                 const NeedleDocument& document) {
  const auto isTruncated = [](const run::StepResult& step) { return trace::endedByLimit(step.outcome); };
  const run::StepResult& last = result.steps.back();
  if (contains(listedNames(last.text), document.name)) return std::nullopt;
  for (const run::StepResult& step : result.steps) {
    if (!holdsText(plan.steps[step.step].prompt, document.text)) continue;
    if (&step != &last && contains(listedNames(step.text), document.name)) {
      return isTruncated(last) ? MissCause::AnswerTruncated : MissCause::LostCombining;
    }
    return isTruncated(step) ? MissCause::AnswerTruncated : MissCause::Missed;
  }
  return MissCause::Missed;
}

/// Adds one run to its row.
class Trial {
 public:
  Trial(NeedleRow& row, const NeedleOptions& options, std::int32_t index,
        const std::vector<NeedleDocument>& documents)
      : m_row(row), m_options(options), m_index(index), m_documents(documents) {}

  void add(const plan::Plan& plan, const run::RunResult& result) {
    const bool hasRun = result.outcome == trace::RunOutcome::Finished;
    for (std::size_t i = 0; i < m_documents.size(); ++i) {
      const std::optional<MissCause> cause =
          hasRun ? causeOf(plan, result, m_documents[i]) : MissCause::NotRun;
      if (cause) {
        m_row.misses.push_back({m_index, static_cast<std::int32_t>(i), m_documents[i].name, *cause});
      } else {
        ++m_found;
        ++m_row.foundAt[i];
      }
    }
    m_row.found += m_found;
    for (const run::StepResult& step : result.steps) {
      m_row.longestPrompt = std::max(m_row.longestPrompt, step.metrics.promptTokens);
    }
    if (hasRun) judge(listedNames(result.steps.back().text));
    if (result.error && !m_row.firstFailure) m_row.firstFailure = result.error->message();
  }

 private:
  void judge(const std::vector<std::string>& listed) {
    const auto given = static_cast<double>(listed.size());
    m_row.invented += static_cast<std::int64_t>(listed.size()) - m_found;
    const bool isGood =
        static_cast<double>(m_found) >= m_options.goodShare * static_cast<double>(m_documents.size()) &&
        static_cast<double>(m_found) >= m_options.goodShare * given;
    if (isGood) ++m_row.good;
  }

  NeedleRow& m_row;
  const NeedleOptions& m_options;
  std::int32_t m_index;
  const std::vector<NeedleDocument>& m_documents;
  std::int64_t m_found = 0;
};

}  // namespace

const char* missCauseName(MissCause cause) {
  switch (cause) {
    case MissCause::Missed:
      return "missed";
    case MissCause::LostCombining:
      return "lost when combined";
    case MissCause::AnswerTruncated:
      return "answer truncated";
    case MissCause::NotRun:
      return "not run";
  }
  return "";
}

std::string groupName(std::int32_t portion) {
  return portion == 0 ? "all at once" : "k = " + std::to_string(portion);
}

std::int64_t NeedleRow::missesBy(MissCause cause) const {
  return std::ranges::count(misses, cause, &NeedleMiss::cause);
}

std::vector<NeedleDocument> needleDocuments(const NeedleOptions& options, std::int32_t hayWords,
                                            std::int32_t trial) {
  std::seed_seq seeds{static_cast<std::uint32_t>(options.seed),
                      static_cast<std::uint32_t>(options.seed >> 32U), static_cast<std::uint32_t>(hayWords),
                      static_cast<std::uint32_t>(trial)};
  std::mt19937_64 random(seeds);
  // Distributions of the standard library may give other numbers on other systems.
  const auto below = [&random](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  std::vector<std::string> names(kNames.begin(), kNames.end());
  std::vector<NeedleDocument> documents;
  for (std::int32_t i = 0; i < options.documents; ++i) {
    const std::size_t drawn = below(names.size());
    NeedleDocument document{.name = std::move(names[drawn]), .text = {}};
    names.erase(names.begin() + static_cast<std::ptrdiff_t>(drawn));
    document.text = "I am a cat, and my name is " + document.name + ".";
    for (std::int32_t words = 0; words < hayWords;) {
      const std::string sentence = kHay[below(kHay.size())];
      words += wordCount(sentence);
      document.text += " " + sentence;
    }
    documents.push_back(std::move(document));
  }
  return documents;
}

query::Node needleQuery(const std::vector<NeedleDocument>& documents) {
  /// The longest name takes a few tokens, with quotes and comma. The limit is twice that number.
  constexpr std::int32_t kTokensForName = 12;
  query::Join plus{.kind = query::JoinKind::Plus, .children = {}};
  for (const NeedleDocument& document : documents)
    plus.children.push_back(message(query::Role::User, document.text));
  query::Join cross{.kind = query::JoinKind::Cross, .children = {}};
  cross.children.push_back(message(query::Role::System, kSystem));
  cross.children.push_back({std::move(plus)});
  cross.children.push_back(message(query::Role::User, kQuestion));
  const auto maxTokens = kTokensForName * (static_cast<std::int32_t>(documents.size()) + 1);
  return {query::Generate{.settings = {.model = {}, .maxTokens = maxTokens, .temperature = 0.0F},
                          .input = query::Node{std::move(cross)}}};
}

plan::Plan needlePlan(const std::vector<NeedleDocument>& documents, std::int32_t portion) {
  plan::PlanOptions options;
  if (portion > 0) {
    options.locality.fanIn = static_cast<std::uint32_t>(portion);
    options.locality.shape = plan::LocalityShape::MapReduce;
    options.locality.reducePrompt = kCombine;
  }
  plan::PlanResult planned = plan::makePlan(needleQuery(documents), options);
  if (!planned.plan) throw Failure(std::move(planned.problems.front()));
  return std::move(*planned.plan);
}

std::vector<std::string> listedNames(const std::string& answer) {
  std::vector<std::string> names;
  for (std::size_t open = answer.find('"'); open != std::string::npos;) {
    const std::size_t close = answer.find('"', open + 1);
    if (close == std::string::npos) break;
    names.push_back(answer.substr(open + 1, close - open - 1));
    open = answer.find('"', close + 1);
  }
  return names;
}

NeedleRow measureNeedle(run::Session& session, const NeedleOptions& options, std::int32_t hayWords,
                        std::int32_t portion, const std::stop_token& stop) {
  NeedleRow row;
  row.hayWords = hayWords;
  row.portion = portion;
  row.trials = options.trials;
  row.foundAt.assign(static_cast<std::size_t>(options.documents), 0);
  std::vector<double> seconds;
  run::RunOptions runOptions;
  runOptions.policy = options.policy;
  runOptions.layout = options.layout;
  runOptions.seed = options.seed;
  for (std::int32_t trial = 0; trial < options.trials; ++trial) {
    const std::vector<NeedleDocument> documents = needleDocuments(options, hayWords, trial);
    const plan::Plan plan = needlePlan(documents, portion);
    pass(options.seam);
    session.clearCache();
    const run::RunResult result = session.run(plan, runOptions, stop);
    if (result.outcome == trace::RunOutcome::Stopped || stop.stop_requested()) {
      throw Failure(
          {.file = {}, .place = "the needle experiment", .found = "The job was stopped.", .expected = {}});
    }
    Trial(row, options, trial, documents).add(plan, result);
    if (result.outcome == trace::RunOutcome::Finished) seconds.push_back(result.seconds);
  }
  row.seconds = summarize(std::move(seconds));
  return row;
}

}  // namespace spanscope::experiment
