// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/query/random_query.h"

#include <QString>
#include <QtGlobal>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

namespace spanscope::query::testing {
namespace {

int pick(std::mt19937& random, int count) {
  return static_cast<int>(random() % static_cast<std::uint32_t>(count));
}

std::string randomText(std::mt19937& random) {
  constexpr std::array kPieces = {"a",  "word ", "\"",   "\\",   "\n", "\t",   "\r",
                                  "\b", "\f",    "{n}",  "{",    "}",  "é",    "日本",
                                  "😀",  "\x01",  "\x1f", "\x7f", "/",  "null", "\xEF\xBB\xBF",
                                  "1",  "-",     ".5",   "true", ": ", " #"};
  std::string text;
  for (int i = pick(random, 6); i > 0; --i)
    text += kPieces[static_cast<std::size_t>(pick(random, kPieces.size()))];
  if (pick(random, 8) == 0) text += '\0';
  return text;
}

float randomFloat(std::mt19937& random) {
  constexpr std::array kValues = {0.0F, -0.0F, 0.6F,  1.0F,
                                  0.1F, 1e-7F, 1e13F, std::numeric_limits<float>::max()};
  if (pick(random, 2) == 0) return kValues[static_cast<std::size_t>(pick(random, kValues.size()))];
  const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
  return std::isnan(value) ? 0.25F : value;
}

template <class T, class Value>
Setting<T> randomSetting(std::mt19937& random, Value value) {
  switch (pick(random, 5)) {
    case 0:
      return Absent{};
    case 1:
      return Null{};
    case 2:
      return Parameter{"p_" + std::to_string(pick(random, 4))};
    default:
      return value();
  }
}

GenerateSettings randomSettings(std::mt19937& random) {
  GenerateSettings settings;
  settings.model = pick(random, 4) == 0 ? "{model}" : "m" + randomText(random);
  settings.maxTokens = randomSetting<std::int32_t>(
      random, [&] { return static_cast<std::int32_t>(random()) >> pick(random, 32); });
  settings.temperature = randomSetting<float>(random, [&] { return randomFloat(random); });
  return settings;
}

Node leaf(std::mt19937& random) {
  switch (pick(random, 8)) {
    case 0:
      return {Message{Role::System, randomText(random)}};
    case 1:
      return {Message{Role::Assistant, randomText(random)}};
    case 2:
      return {Print{randomText(random)}};
    case 3:
      return {Ask{randomText(random)}};
    case 4:
      return {File{randomText(random)}};
    default:
      return {Message{Role::User, randomText(random)}};
  }
}

}  // namespace

std::uint32_t testSeed(std::uint32_t fallback) {
  bool isSet = false;
  const uint given = qEnvironmentVariable("SPANSCOPE_TEST_SEED").toUInt(&isSet);
  const std::uint32_t seed = isSet ? given : fallback;
  qInfo("SPANSCOPE_TEST_SEED=%u", seed);
  return seed;
}

Node randomQuery(std::mt19937& random, int depth) {
  if (depth <= 1) return leaf(random);
  const auto below = [&] { return randomQuery(random, depth - 1 - pick(random, 2)); };
  switch (pick(random, 10)) {
    case 0:
      return {Generate{randomSettings(random), below()}};
    case 1:
      return {Monad{below()}};
    case 2:
      return {Zip{below(), below()}};
    case 3: {
      Repeat repeat;
      if (pick(random, 3) == 0) {
        repeat.count = Parameter{"n"};
      } else {
        repeat.count = static_cast<std::uint8_t>(random());
      }
      repeat.generate = {randomSettings(random), below()};
      return {repeat};
    }
    case 4: {
      Map map{randomSettings(random), {}};
      for (int i = pick(random, 4); i > 0; --i) map.inputs.push_back(randomText(random));
      return {map};
    }
    case 5: {
      SourceDocument document{randomText(random), randomText(random)};
      if (pick(random, 2) == 0) {
        document.content = std::vector<std::uint8_t>{0, 255, static_cast<std::uint8_t>(random())};
      }
      return {Augment{"e" + randomText(random), below(), document}};
    }
    case 6:
      return leaf(random);
    default: {
      Join join{static_cast<JoinKind>(pick(random, 4)), {}};
      for (int i = pick(random, 4); i > 0; --i) join.children.push_back(below());
      return {join};
    }
  }
}

Node queryOfEveryKind() {
  const Node user{Message{Role::User, "question {topic}"}};
  const Generate generate{{"{model}", Parameter{"max_tokens"}, Parameter{"temperature"}}, user};
  Repeat repeat;
  repeat.count = Parameter{"n"};
  repeat.generate = generate;
  Node root{
      Join{JoinKind::Seq,
           {Node{Message{Role::System, "be short"}}, Node{Message{Role::Assistant, "yes"}}, user,
            Node{Join{JoinKind::Par, {user, Node{Join{JoinKind::Plus, {user, user}}}}}},
            Node{Join{JoinKind::Cross, {user, Node{generate}}}}, Node{Monad{Node{generate}}},
            Node{Zip{user, Node{Join{JoinKind::Seq, {user}}}}}, Node{Print{"hello"}}, Node{repeat},
            Node{Map{{"m", Null{}, 0.5F}, {"a", "b"}}}, Node{Augment{"e", Node{Monad{user}}, {"d", "text"}}},
            Node{Ask{"name?"}}, Node{File{"./a.txt"}}}}};
  return root;
}

}  // namespace spanscope::query::testing
