// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/lesson/answers.h"

#include "engine/base/error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>
#include <variant>

namespace spanscope::lesson {
namespace {

constexpr double kClose = 0.1;  // max distance, relative to the right number

std::string csvCell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace

const char* gradeName(Grade grade) {
  switch (grade) {
    case Grade::Right:
      return "right";
    case Grade::Close:
      return "close";
    case Grade::Wrong:
      return "wrong";
    case Grade::Skipped:
      return "skipped";
    case Grade::Unknown:
      break;
  }
  return "unknown";
}

std::optional<double> leadingNumber(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return std::nullopt;
  text.remove_prefix(begin);
  const std::size_t whole = std::min(text.find_first_not_of("0123456789"), text.size());
  if (whole == 0) return std::nullopt;
  std::size_t end = whole;
  if (end + 1 < text.size() && text[end] == '.') {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789", end + 1), text.size());
    if (digits > end + 1) end = digits;
  }
  double number = 0;
  std::from_chars(text.data(), text.data() + end, number);
  return number;
}

Grade gradeOf(const FilledQuestion& question, const GivenAnswer& answer) {
  if (!answer.isGiven()) return Grade::Skipped;
  if (!question.isAnswered()) return Grade::Unknown;
  if (question.kind == Question::Kind::Choice) {
    if (!answer.choice || *answer.choice >= question.choices.size()) return Grade::Skipped;
    return question.choices[*answer.choice].isRight.value_or(false) ? Grade::Right : Grade::Wrong;
  }
  const std::optional<double> said = leadingNumber(answer.number);
  const std::optional<double> right = leadingNumber(question.answer);
  if (!said || !right) return Grade::Unknown;
  const double distance = std::abs(*said - *right);
  if (distance < 1e-9 * std::max(1.0, *right)) return Grade::Right;
  const bool isClose = question.kind == Question::Kind::Number && distance <= kClose * std::abs(*right);
  return isClose ? Grade::Close : Grade::Wrong;
}

std::string written(const LearnerAnswers& answers) {
  nlohmann::ordered_json json{{"lesson", answers.lesson}, {"answers", nlohmann::ordered_json::array()}};
  for (const GivenAnswer& one : answers.answers) {
    nlohmann::ordered_json answer{{"step", one.step}, {"question", one.question}};
    if (!one.number.empty()) answer["number"] = one.number;
    if (one.choice) answer["choice"] = *one.choice + 1;
    json["answers"].push_back(std::move(answer));
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

LearnerAnswers readAnswers(std::string_view text, const std::filesystem::path& file) {
  LearnerAnswers answers;
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    answers.lesson = json.at("lesson").get<std::string>();
    for (const nlohmann::json& one : json.at("answers")) {
      GivenAnswer answer{.step = one.at("step").get<std::size_t>(),
                         .question = one.at("question").get<std::size_t>()};
      if (one.contains("number")) answer.number = one.at("number").get<std::string>();
      if (one.contains("choice")) {
        const auto choice = one.at("choice").get<std::size_t>();
        if (choice > 0) answer.choice = choice - 1;
      }
      answers.answers.push_back(std::move(answer));
    }
  } catch (const nlohmann::json::exception& wrong) {
    throw Failure({.file = file.string(),
                   .place = {},
                   .found = wrong.what(),
                   .expected = "the answers of a learner, as the window saves them"});
  }
  return answers;
}

std::string gradesCsv(const FilledLesson& lesson, const std::vector<GradedLearner>& learners) {
  struct Asked {
    std::size_t step = 0;
    std::size_t number = 0;
    const FilledQuestion* question = nullptr;
  };
  std::vector<Asked> asked;
  for (const FilledStep& step : lesson.steps) {
    std::size_t number = 0;
    for (const FilledBlock& block : step.blocks) {
      if (const auto* question = std::get_if<FilledQuestion>(&block))
        asked.push_back({step.number, ++number, question});
    }
  }
  std::string out = "learner";
  for (const Asked& one : asked) out += "," + std::to_string(one.step) + "." + std::to_string(one.number);
  out += ",right,questions\n";
  for (const GradedLearner& learner : learners) {
    out += csvCell(learner.learner);
    std::size_t right = 0;
    for (const Asked& one : asked) {
      const auto& given = learner.answers.answers;
      const auto found = std::find_if(given.begin(), given.end(), [&one](const GivenAnswer& answer) {
        return answer.step == one.step && answer.question == one.number;
      });
      const Grade grade = found == given.end() ? Grade::Skipped : gradeOf(*one.question, *found);
      right += grade == Grade::Right ? 1 : 0;
      out += std::string(",") + gradeName(grade);
    }
    out += "," + std::to_string(right) + "," + std::to_string(asked.size()) + "\n";
  }
  return out;
}

}  // namespace spanscope::lesson
