// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/source_questions.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <utility>

namespace spanscope::experiment {
namespace {

constexpr const char* kSystem = "Answer questions using the given documents.";

/// Names and words that the bundled model copies correctly. The cause of a wrong answer is then wrong
/// reading.
constexpr std::array kPeople = {"Mira", "Tarek",  "Nadia", "Otto",  "Priya", "Lena",   "Omar",
                                "Ivan", "Carlos", "Emma",  "Clara", "Liam",  "Felix",  "Hugo",
                                "Ines", "Kira",   "Leo",   "Maya",  "Nils",  "Rosa",   "Sven",
                                "Tina", "Uma",    "Vera",  "Zara",  "Sana",  "Victor", "Nina"};
static_assert(kPeople.size() == kMostSources);
constexpr std::array kPlaces = {"Lisbon", "Porto",  "Cairo", "Oslo",   "Paris",  "Rome",
                                "Berlin", "Madrid", "Tokyo", "Vienna", "Prague", "Dublin"};
constexpr std::array kMonths = {"January", "February", "March",     "April",   "May",      "June",
                                "July",    "August",   "September", "October", "November", "December"};
constexpr std::array kFirms = {"Initech", "Wonka", "Acme", "Globex"};
constexpr std::array kInstruments = {"cello", "piano", "violin", "guitar", "drums", "flute"};
constexpr std::array kRelations = {"sister", "brother", "friend", "boss"};
constexpr std::array kHay = {
    "The weather was mild that day.", "Two men carried a ladder.", "The stairs are steep.",
    "The market closes at noon.",     "The soup was cold.",        "The lamp gave little light.",
    "The garden needs water.",        "The train was late again."};

/// A kind of fact about a person, e.g. "… lives in Oslo."
struct Kind {
  const char* verb;
  const char* ask;  ///< the text before the name in a question
  const char* end;  ///< the text after the name
};
constexpr std::array kKinds = {
    Kind{" lives in ", "Where does ", " live?"}, Kind{" was born in ", "When was ", " born?"},
    Kind{" works at ", "Where does ", " work?"}, Kind{" plays the ", "What does ", " play?"}};

class Draw {
 public:
  Draw(const SourceWorld& world, std::int32_t index) {
    std::seed_seq seeds{static_cast<std::uint32_t>(world.seed), static_cast<std::uint32_t>(world.seed >> 32U),
                        static_cast<std::uint32_t>(world.documents), static_cast<std::uint32_t>(index)};
    m_random.seed(seeds);
  }

  /// Distributions of the standard library may give other numbers on other systems.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(m_random() % count); }

  template <class T, std::size_t N>
  std::string oneOf(const std::array<T, N>& words) {
    return words[below(N)];
  }

  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

  std::string valueOf(std::size_t kind) {
    switch (kind) {
      case 0:
        return oneOf(kPlaces);
      case 1:
        return oneOf(kMonths);
      case 2:
        return oneOf(kFirms);
      default:
        return oneOf(kInstruments);
    }
  }

 private:
  std::mt19937_64 m_random;
};

query::Node message(query::Role role, std::string text) {
  return {query::Message{.role = role, .text = std::move(text)}};
}

}  // namespace

SourceQuestion sourceQuestion(const SourceWorld& world, std::int32_t index) {
  Draw draw(world, index);
  const bool needsTwo = index % 2 == 1;
  std::vector<std::string> people(kPeople.begin(), kPeople.end());
  draw.shuffle(people);
  people.resize(static_cast<std::size_t>(world.documents));

  // The question asks for the first person. If two documents are needed, the question names the second
  // person.
  const std::size_t asked = draw.below(kKinds.size());
  struct Document {
    std::string text;
    bool isNeeded = false;
  };
  std::vector<Document> made;
  SourceQuestion question;
  for (std::size_t i = 0; i < people.size(); ++i) {
    const bool isRival = i > 1 && i < 2 + static_cast<std::size_t>(world.rivals);
    const bool tellsRelation = i == 1 ? needsTwo : isRival;
    const std::string hay = draw.oneOf(kHay);
    Document& document = made.emplace_back();
    if (tellsRelation) {
      // Only the needed document names an acquaintance of the first person.
      const std::string relation = draw.oneOf(kRelations);
      std::size_t other = 0;
      if (i > 1) {
        other = 2 + draw.below(people.size() - 3);
        if (other >= i) ++other;
      }
      document.text = "The " + relation + " of " + people[i] + " is " + people[other] + ". ";
      if (i == 1) question.question = "the " + relation + " of " + people[i];
    } else {
      const std::size_t kind = i == 0 ? asked : draw.below(kKinds.size());
      const std::string fact = people[i] + kKinds[kind].verb + draw.valueOf(kind) + ".";
      document.text = fact + " ";
      if (i == 0) question.answer = fact;
    }
    document.text += hay;
    document.isNeeded = i == 0 || (i == 1 && needsTwo);
  }
  if (!needsTwo) question.question = people[0];
  question.question = kKinds[asked].ask + question.question + kKinds[asked].end;

  draw.shuffle(made);
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (made[i].isNeeded) question.needed.push_back(static_cast<std::int32_t>(i));
    question.documents.push_back(std::move(made[i].text));
  }
  return question;
}

query::Node sourceQuery(const SourceQuestion& question) {
  constexpr std::int32_t kAnswer = 24;  // twice the longest right answer
  query::Join plus{.kind = query::JoinKind::Plus, .children = {}};
  for (const std::string& document : question.documents)
    plus.children.push_back(message(query::Role::User, document));
  query::Join cross{.kind = query::JoinKind::Cross, .children = {}};
  cross.children.push_back(message(query::Role::System, kSystem));
  cross.children.push_back({std::move(plus)});
  cross.children.push_back(message(query::Role::User, question.question));
  return {query::Generate{.settings = {.model = {}, .maxTokens = kAnswer, .temperature = 0.0F},
                          .input = query::Node{std::move(cross)}}};
}

}  // namespace spanscope::experiment
