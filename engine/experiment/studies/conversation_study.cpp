// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/translation.h"
#include "engine/experiment/conversations.h"
#include "engine/experiment/studies/study.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

namespace spanscope::experiment {
namespace {

constexpr const char* kHistoryFirst = "history-first";
constexpr const char* kPassagesFirst = "passages-first";

constexpr std::array kFields = {
    ExperimentField{"turns", forTranslation("Experiments", "Turns"),
                    forTranslation("Experiments", "Max turns of each conversation"), "8", FieldKind::Number,
                    1, 1000},
    ExperimentField{"policies", forTranslation("Experiments", "Policies"),
                    forTranslation("Experiments", "One line for each policy and order"), "spans,prefix",
                    FieldKind::Policies},
    ExperimentField{
        "orders", forTranslation("Experiments", "Order of the prompt"),
        forTranslation(
            "Experiments",
            "history-first: earlier turns, then passages. passages-first: passages, then earlier turns. "
            "passages-kept: all passages so far, each before its question. One line for each order"),
        "history-first,passages-first", FieldKind::Words, 1, 1, "history-first,passages-first,passages-kept"},
    ExperimentField{"words", forTranslation("Experiments", "Words per passage"),
                    forTranslation("Experiments", "Max words of each passage, from its beginning"), "150",
                    FieldKind::Number, 1, 10'000},
    ExperimentField{
        "folder", forTranslation("Experiments", "Folder of the conversations"),
        forTranslation("Experiments", "Folder or file of the conversations of MTRAG (IBM/mt-rag-benchmark)"),
        "", FieldKind::Folder}};
constexpr std::array kMeasures = {
    Measure{"cached_share", forTranslation("Experiments", "prompt cache hits"), "%", 1},
    Measure{"ttft_ms", forTranslation("Experiments", "time to first token"), "ms", 1, true},
    Measure{"prompt_tokens", forTranslation("Experiments", "prompt"), "tokens", 0},
    Measure{"passages_returned", forTranslation("Experiments", "passages retrieved before"), "%", 0}};

std::string firstWords(const std::string& text, std::int32_t words) {
  std::size_t end = 0;
  for (std::int32_t i = 0; i < words && end < text.size(); ++i) {
    const auto isBlank = [&](std::size_t at) {
      return std::isspace(static_cast<unsigned char>(text[at])) != 0;
    };
    while (end < text.size() && isBlank(end)) ++end;
    while (end < text.size() && !isBlank(end)) ++end;
  }
  return text.substr(0, end);
}

class Prompts {
 public:
  Prompts(const Conversations& all, std::int32_t words) : m_all(all), m_words(words) {}

  query::Node of(const Conversation& conversation, std::size_t turn, const std::string& order) const {
    const ConversationTurn& now = conversation.turns[turn];
    query::Join cross{.kind = query::JoinKind::Cross, .children = {}};
    cross.children.push_back(studyMessage(query::Role::System, "Answer from the passages."));
    if (order == kHistoryFirst) {
      addSaid(cross, now, 0, now.said.size() - 1);
      addPassages(cross, now);
    } else if (order == kPassagesFirst) {
      addPassages(cross, now);
      addSaid(cross, now, 0, now.said.size() - 1);
    } else {
      std::size_t said = 0;
      for (std::size_t before = 0; before < turn; ++before) {
        const ConversationTurn& then = conversation.turns[before];
        const std::size_t question = std::min(then.said.size(), now.said.size()) - 1;
        addSaid(cross, now, said, std::max(said, question));
        addPassages(cross, then);
        said = std::max(said, question);
      }
      addSaid(cross, now, said, now.said.size() - 1);
      addPassages(cross, now);
    }
    cross.children.push_back(studyMessage(query::Role::User, now.said.back().text));
    return studyGenerate({std::move(cross)}, 1, 0);
  }

 private:
  static void addSaid(query::Join& cross, const ConversationTurn& turn, std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      const Said& said = turn.said[i];
      cross.children.push_back(
          studyMessage(said.byUser ? query::Role::User : query::Role::Assistant, said.text));
    }
  }
  void addPassages(query::Join& cross, const ConversationTurn& turn) const {
    if (turn.passages.empty()) return;
    query::Join plus{.kind = query::JoinKind::Plus, .children = {}};
    for (const std::size_t passage : turn.passages)
      plus.children.push_back(
          studyMessage(query::Role::User, firstWords(m_all.passages[passage].text, m_words)));
    cross.children.push_back({std::move(plus)});
  }

  const Conversations& m_all;
  std::int32_t m_words;
};

/// Returns, for each turn, the percentage of its passages that an earlier turn had. Empty: the turn has no
/// passages.
std::vector<std::vector<double>> returnedOf(const Conversation& conversation) {
  std::set<std::size_t> seen;
  std::vector<std::vector<double>> shares;
  for (const ConversationTurn& turn : conversation.turns) {
    const auto known =
        std::ranges::count_if(turn.passages, [&](std::size_t passage) { return seen.count(passage) > 0; });
    shares.emplace_back();
    if (!turn.passages.empty())
      shares.back().push_back(100.0 * static_cast<double>(known) / static_cast<double>(turn.passages.size()));
    seen.insert(turn.passages.begin(), turn.passages.end());
  }
  return shares;
}

std::string lineOf(const std::string& policy, std::string order) {
  std::ranges::replace(order, '-', ' ');
  return policy + ", " + order;
}

void measure(ExperimentResult& result, const ExperimentModel& model, const ExperimentProgress& report,
             const std::stop_token& stop) {
  const std::vector<std::string> policies = policiesOf(result.request, "policies");
  const std::vector<std::string> orders = wordsOf(result.request, "orders");
  const std::filesystem::path file = findConversations(textOf(result.request, "folder"), model.published);
  const Conversations all = readConversations(file);
  const Prompts prompts(all, numberOf(result.request, "words"));
  const auto mostTurns = static_cast<std::size_t>(numberOf(result.request, "turns"));
  const std::size_t count =
      std::min(all.conversations.size(), static_cast<std::size_t>(result.request.repeats));
  Study study(result, model, report, stop);
  study.remark("Conversations from " + file.filename().string() + ", one for each repeat: the first " +
               std::to_string(count) + ". The answers come from the same file.");
  for (std::size_t i = 0; i < count; ++i)
    result.total += std::min(mostTurns, all.conversations[i].turns.size()) * policies.size() * orders.size();
  study.begin("warming up");
  study.run(studyPlan(prompts.of(all.conversations.front(), 0, orders.front())), policies.front());
  for (std::size_t i = 0; i < count; ++i) {
    const Conversation& conversation = all.conversations[i];
    const std::size_t turns = std::min(mostTurns, conversation.turns.size());
    const std::vector<std::vector<double>> returned = returnedOf(conversation);
    for (const std::string& order : orders) {
      for (const std::string& policy : policies) {
        // Every line runs each conversation alone: no hits come from another conversation.
        study.clearCache();
        for (std::size_t turn = 0; turn < turns; ++turn) {
          const std::string doing =
              "conversation " + std::to_string(i + 1) + ", turn " + std::to_string(turn + 1);
          study.begin(doing + ", policy " + policy);
          Study::Ran ran;
          try {
            ran = study.run(studyPlan(prompts.of(conversation, turn, order)), policy);
          } catch (const Failure& failure) {
            if (stop.stop_requested()) throw;
            // The prompt does not fit into the model's context. Later prompts are longer.
            study.remark(doing + " and all later turns are left out: " + failure.what());
            for (; turn < turns; ++turn) study.step();
            break;
          }
          const metrics::RunValues& measured = ran.sample.measured;
          study.addSamples(lineOf(policy, order), static_cast<double>(turn + 1), 0,
                           {{100.0 * static_cast<double>(measured.cachedTokens) /
                             static_cast<double>(measured.promptTokens)},
                            {measured.timeToFirstToken.value_or(0) * kMilliseconds},
                            {static_cast<double>(measured.promptTokens)},
                            returned[turn]});
          study.step();
        }
      }
    }
  }
}

}  // namespace

const Experiment kConversationStudy{
    .name = "conversation",
    .title = forTranslation("Experiments", "Conversation with retrieval"),
    .brief = forTranslation("Experiments",
                            "How much of the prompt of each turn is a cache hit? How long does the first "
                            "token take? Each question has its own retrieved passages."),
    .xName = forTranslation("Experiments", "turn"),
    .fields = kFields,
    .measures = kMeasures,
    .repeats = 5,
    .measure = measure};

}  // namespace spanscope::experiment
