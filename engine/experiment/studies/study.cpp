// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/studies/study.h"

#include "engine/base/error.h"
#include "engine/experiment/policy_text.h"
#include "engine/plan/planner.h"
#include "engine/run/run_options.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

namespace spanscope::experiment {
namespace {

constexpr std::array kFiller = {"The weather was mild that day.", "Two men carried a ladder.",
                                "The stairs are steep.",          "The market closes at noon.",
                                "The river is wide in spring.",   "The soup was cold.",
                                "A boat left the pier.",          "The clock in the tower was slow.",
                                "The book lay on the table.",     "Birds sat on the roof."};

}  // namespace

std::uint64_t StudySink::send(RunId run, RequestId request, const NodePath& node, trace::Payload payload) {
  if (FinishedReplies::takes(payload)) {
    trace::Event event{.sequence = 0,
                       .time = 0,
                       .session = 1,
                       .run = run,
                       .request = request,
                       .node = node,
                       .payload = payload};
    m_replies.take(event);
  }
  return m_figures.send(run, request, node, std::move(payload));
}

Study::Study(ExperimentResult& result, const ExperimentModel& model, const ExperimentTell& tell,
             const std::stop_token& stop, std::int32_t leastBlocks)
    : m_result(result), m_model(model), m_tell(tell), m_stop(stop), m_config(model.session) {
  m_config.blockCount = std::max(m_config.blockCount, leastBlocks);
}

run::Session& Study::session() {
  if (!m_session) m_session = m_model.open(m_config, m_sink);
  return *m_session;
}

void Study::begin(const std::string& doing) {
  if (m_stop.stop_requested()) throw Failure(errorAt(m_result.wish.experiment, "a request to stop", {}));
  m_result.doing = doing;
  m_tell(m_result);
}

void Study::add(const std::string& series, double x, const std::vector<double>& figures) {
  std::vector<std::vector<double>> samples;
  for (const double figure : figures) samples.push_back({figure});
  addSamples(series, x, 0, samples);
}

void Study::addSamples(const std::string& series, double x, double y,
                       const std::vector<std::vector<double>>& samples) {
  auto point = std::find_if(m_result.points.begin(), m_result.points.end(), [&](const ExperimentPoint& one) {
    return one.series == series && one.x == x && one.y == y;
  });
  if (point == m_result.points.end()) {
    m_result.points.push_back(
        {.series = series, .x = x, .y = y, .samples = std::vector<std::vector<double>>(samples.size())});
    point = std::prev(m_result.points.end());
  }
  for (std::size_t i = 0; i < samples.size(); ++i)
    point->samples[i].insert(point->samples[i].end(), samples[i].begin(), samples[i].end());
  m_tell(m_result);
}

void Study::step() {
  ++m_result.done;
}

void Study::remark(const std::string& sentence) {
  std::vector<std::string>& remarks = m_result.remarks;
  if (std::find(remarks.begin(), remarks.end(), sentence) == remarks.end()) remarks.push_back(sentence);
}

trace::FidelityMeasured Study::fidelityOf(const run::FinishedReply& reply) {
  pass(m_model.seam);
  const FidelityModel measured{
      .decoder = m_model.decoder, .backend = m_model.backend, .tokenizer = m_model.tokenizer};
  return measureFidelity(session(), measured, reply, m_stop);
}

Study::Ran Study::run(const plan::Plan& plan, const std::string& policy, std::uint64_t seed) {
  pass(m_model.seam);
  run::RunOptions options;
  usePolicy(options, policy);
  options.seed = seed;
  Ran ran{.sample = {}, .result = session().run(plan, options, m_stop), .replies = {}};
  ran.sample = m_sink.figures().take();
  ran.replies = m_sink.replies().takeRun(session().lastRun());
  if (ran.result.error) throw Failure(*ran.result.error);
  if (ran.result.outcome != trace::RunOutcome::Finished)
    throw Failure(errorAt(m_result.wish.experiment, "a request to stop", {}));
  return ran;
}

plan::Plan studyPlan(const query::Node& query) {
  plan::PlanResult made = plan::makePlan(query, {});
  if (!made.plan) throw Failure(made.problems.front());
  return std::move(*made.plan);
}

std::int32_t repeatsOver(const ExperimentWish& wish, std::int32_t documents) {
  return wish.own ? std::min(wish.repeats, documents) : wish.repeats;
}

plan::Plan ownPlan(const ExperimentWish& wish, std::int32_t documents, std::int32_t repeat) {
  return studyPlan(wish.own->query(
      {.documents = documentsInTurn(static_cast<std::size_t>(documents), static_cast<std::size_t>(repeat))}));
}

std::string fillerText(std::int32_t words, std::uint64_t number) {
  std::string text = "Note " + std::to_string(number) + ".";
  std::uint64_t state = number * 0x9E3779B97F4A7C15ULL + 1;
  for (std::int32_t written = 2; written < words;) {
    state ^= state << 13U;
    state ^= state >> 7U;
    state ^= state << 17U;
    const char* sentence = kFiller[state % kFiller.size()];
    text.append(" ").append(sentence);
    written += static_cast<std::int32_t>(
                   std::count(sentence, sentence + std::char_traits<char>::length(sentence), ' ')) +
               1;
  }
  return text;
}

query::Node studyMessage(query::Role role, std::string text) {
  return {query::Message{.role = role, .text = std::move(text)}};
}

query::Node studyGenerate(query::Node input, std::int32_t maxTokens, float temperature) {
  return {query::Generate{.settings = {.model = {}, .maxTokens = maxTokens, .temperature = temperature},
                          .input = std::move(input)}};
}

}  // namespace spanscope::experiment
