// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/plan/plan_text.h"

#include <algorithm>

namespace spanscope::plan::testing {
namespace {

int pick(std::mt19937& random, int count) {
  return static_cast<int>(random() % static_cast<std::uint32_t>(count));
}

std::string hashOf(const std::string& text) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return std::to_string(hash);
}

class Reader {
 public:
  explicit Reader(const std::vector<std::string>& answers) : m_answers(&answers) {}

  std::string read(const PromptNode& node) const {
    if (const auto* message = std::get_if<PromptMessage>(&node.value)) {
      return "<" + std::string(query::roleName(message->role)) + ":" + message->text + ">";
    }
    if (const auto* output = std::get_if<PromptOutput>(&node.value)) {
      return "<reply:" + (*m_answers)[output->step] + ">";
    }
    std::string text;
    if (const auto* run = std::get_if<PromptRun>(&node.value)) {
      for (const PromptNode& child : run->children) text += read(child);
      return text;
    }
    for (const PromptNode& child : std::get<PromptPlus>(node.value).children) {
      text += holdsOnlyScopes(child) ? read(child) : "(" + read(child) + ")";
    }
    return text;
  }

 private:
  static bool holdsOnlyScopes(const PromptNode& node) {
    if (std::holds_alternative<PromptPlus>(node.value)) return true;
    const auto* run = std::get_if<PromptRun>(&node.value);
    return run != nullptr && run->children.size() == 1 && holdsOnlyScopes(run->children.front());
  }

  const std::vector<std::string>* m_answers;
};

query::GenerateSettings randomSettings(std::mt19937& random) {
  query::GenerateSettings settings;
  settings.model = pick(random, 4) == 0 ? "other" : "m";
  if (pick(random, 2) == 0) settings.maxTokens = std::int32_t{pick(random, 50)};
  return settings;
}

query::Node randomMessage(std::mt19937& random) {
  const auto role = static_cast<query::Role>(pick(random, 3));
  return {query::Message{role, pick(random, 8) == 0 ? "" : "t" + std::to_string(pick(random, 20))}};
}

}  // namespace

std::string show(const PromptNode& node) {
  const auto list = [](const std::vector<PromptNode>& children, const char* open, const char* close) {
    std::string text = open;
    for (const PromptNode& child : children) text += (text.size() > 1 ? " " : "") + show(child);
    return text + close;
  };
  if (const auto* message = std::get_if<PromptMessage>(&node.value)) {
    return std::string(query::roleName(message->role)).substr(0, 1) + ":" + message->text;
  }
  if (const auto* output = std::get_if<PromptOutput>(&node.value)) {
    const char* form = output->form == OutputForm::Continuation ? ">"
                       : output->form == OutputForm::Recomputed ? "="
                                                                : "~";
    return form + std::to_string(output->step);
  }
  if (const auto* run = std::get_if<PromptRun>(&node.value)) return list(run->children, "[", "]");
  return list(std::get<PromptPlus>(node.value).children, "{", "}");
}

std::vector<std::string> stubAnswers(const Plan& plan) {
  std::vector<std::string> answers;
  for (const Step& step : plan.steps) {
    const std::string prompt = Reader(answers).read(step.prompt);
    answers.push_back(hashOf(step.model + "|" + std::to_string(step.maxTokens.value_or(-1)) + "|" + prompt));
  }
  return answers;
}

std::vector<std::string> stubResult(const Plan& plan) {
  const std::vector<std::string> answers = stubAnswers(plan);
  std::vector<std::string> result;
  for (const ResultItem& item : plan.result) {
    if (const auto* step = std::get_if<StepIndex>(&item.value)) {
      result.push_back(answers[*step]);
    } else {
      result.push_back(show({item.node, std::get<PromptMessage>(item.value)}));
    }
  }
  return result;
}

std::vector<std::string> stubSideEffects(const Plan& plan) {
  const std::vector<std::string> answers = stubAnswers(plan);
  std::vector<std::string> effects = plan.printed;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (plan.steps[i].dropped) effects.push_back(answers[i]);
  }
  std::sort(effects.begin(), effects.end());
  return effects;
}

query::Node randomPlannable(std::mt19937& random, int depth) {
  if (depth <= 1) return randomMessage(random);
  const auto below = [&] { return randomPlannable(random, depth - 1 - pick(random, 2)); };
  switch (pick(random, 12)) {
    case 0:
    case 1:
      return {query::Generate{randomSettings(random), below()}};
    case 2:
      return {query::Monad{below()}};
    case 3:
      return {query::Zip{below(), below()}};
    case 4: {
      query::Repeat repeat;
      repeat.count = static_cast<std::uint8_t>(pick(random, 4));
      repeat.generate = {randomSettings(random), below()};
      return {repeat};
    }
    case 5: {
      query::Map map{randomSettings(random), {}};
      for (int i = pick(random, 4); i > 0; --i) map.inputs.push_back("i" + std::to_string(pick(random, 9)));
      return {map};
    }
    case 6:
      return {query::Print{"p" + std::to_string(pick(random, 5))}};
    default: {
      query::Join join{static_cast<query::JoinKind>(pick(random, 4)), {}};
      for (int i = pick(random, 5); i > 0; --i) join.children.push_back(below());
      return {join};
    }
  }
}

}  // namespace spanscope::plan::testing
