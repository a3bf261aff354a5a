// SPDX-License-Identifier: GPL-3.0-or-later
// The lists of fields: every operator of the language, with random values in the fields of its list, is
// written and read in every form as it is, and what the list says of it agrees with what is written.
#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"
#include "engine/query/operators/vocabulary.h"
#include "engine/query/parameters.h"
#include "engine/query/query_form.h"
#include "engine/query/visit_fields.h"
#include "tests/engine/query/random_query.h"
#include "tests/support/test_program.h"

#include <QObject>
#include <QString>
#include <QTest>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace spanscope::query;

namespace {

/// Puts random values into the fields of an operator, by their kinds.
class RandomFields {
 public:
  explicit RandomFields(std::mt19937& random) : m_random(random) {}

  void operator()(const FieldInfo& /*info*/, std::string& text) { text = word(); }
  void operator()(const FieldInfo& /*info*/, Times& times) {
    times = static_cast<std::uint8_t>(m_random());
    if (isOnce(3)) times = Parameter{"n"};
  }
  template <SettingField Setting>
  void operator()(const FieldInfo& /*info*/, Setting& setting) {
    using T = std::variant_alternative_t<2, Setting>;
    setting = static_cast<T>(m_random() % 100);
    if (isOnce(4)) setting = Parameter{"p"};
    if (isOnce(4)) setting = Null{};
    if (isOnce(4)) setting = Absent{};
  }
  void operator()(const FieldInfo& /*info*/, std::vector<std::string>& texts) {
    for (auto i = m_random() % 4; i > 0; --i) texts.push_back(word());
  }
  void operator()(const FieldInfo& /*info*/, SourceDocument& document) {
    document.name = word();
    document.content = word();
    if (isOnce(2)) document.content = std::vector<std::uint8_t>{0, static_cast<std::uint8_t>(m_random())};
  }
  void operator()(const FieldInfo& /*info*/, GroupField auto& group) { visitGroup(group, *this); }
  void operator()(const FieldInfo& /*info*/, spanscope::Box<Node>& child) { *child = below(); }
  void operator()(const FieldInfo& /*info*/, std::vector<Node>& children) {
    for (auto i = 1 + m_random() % 3; i > 0; --i) children.push_back(below());
  }

 private:
  bool isOnce(unsigned times) { return m_random() % times == 0; }
  std::string word() { return "w" + std::to_string(m_random() % 1000) + (isOnce(3) ? " {topic}\n\"" : ""); }
  Node below() { return testing::randomQuery(m_random, 3); }

  std::mt19937& m_random;
};

Node randomNode(std::mt19937& random, const std::string& key) {
  Node node = makeOperator(key);
  visitFields(node, RandomFields(random));
  return node;
}

}  // namespace

class TestOperators : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyKeyIsInTheVocabulary();
  void isWrittenAndRead_data();
  void isWrittenAndRead();
  void childrenAreThoseThatAreWritten_data();
  void childrenAreThoseThatAreWritten();
  void isTakenApartAndPutTogether_data();
  void isTakenApartAndPutTogether();
  void partsAreWhatTheFieldsSay_data();
  void partsAreWhatTheFieldsSay();
  void containersAreThoseOfJson_data();
  void containersAreThoseOfJson();

 private:
  static void keys();
  static std::mt19937 generator() { return std::mt19937(testing::testSeed(20261U)); }
  static constexpr int kRounds = 50;
};

void TestOperators::keys() {
  QTest::addColumn<QString>("key");
  forEachOperator([]<class Operator>() {
    forEachKey<Operator>(
        [](const char* key, const auto& /*make*/) { QTest::newRow(key) << QString::fromLatin1(key); });
  });
}

void TestOperators::everyKeyIsInTheVocabulary() {
  std::set<std::string> known;
  std::size_t count = 0;
  forEachOperator([&]<class Operator>() {
    const std::size_t index = kIndexOf<Operator>;
    QCOMPARE(Node{Operator{}}.value.index(), index);
    forEachKey<Operator>([&](const char* key, const auto& make) {
      known.insert(key);
      ++count;
      QCOMPARE(std::string(operatorName(Node{make()})), std::string(key));
      QVERIFY((", " + operatorKeys() + ",").find(std::string(", ") + key + ",") != std::string::npos);
    });
  });
  QCOMPARE(known.size(), count);
}

void TestOperators::isWrittenAndRead_data() {
  keys();
}

void TestOperators::isWrittenAndRead() {
  QFETCH(const QString, key);
  std::mt19937 random = generator();
  for (int round = 0; round < kRounds; ++round) {
    const Node node = randomNode(random, key.toStdString());
    for (const QueryForm form : {QueryForm::Json, QueryForm::Yaml, QueryForm::Lisp}) {
      const std::string text = writeQuery(node, form);
      const ParseResult read = parseQuery(text, form);
      QVERIFY2(read.query.has_value(), text.c_str());
      // Lisp has the defaults of what is left out.
      if (form == QueryForm::Lisp) {
        QCOMPARE(writeCanonical(*read.query), writeCanonical(node));
      } else {
        QVERIFY2(*read.query == node, text.c_str());
      }
    }
  }
}

void TestOperators::childrenAreThoseThatAreWritten_data() {
  keys();
}

void TestOperators::childrenAreThoseThatAreWritten() {
  QFETCH(const QString, key);
  std::mt19937 random = generator();
  for (int round = 0; round < kRounds; ++round) {
    const Node node = randomNode(random, key.toStdString());
    // With the defaults in place, every node is in the text as it would be written alone.
    const std::string text = writeCanonical(node);
    const ParseResult read = parseJson(text);
    QVERIFY2(read.query.has_value(), text.c_str());
    std::size_t nodes = 0;
    walk(*read.query, {}, [&](const Node& part, const spanscope::NodePath& path) {
      ++nodes;
      const auto range = read.sources.find(path);
      QVERIFY2(range.has_value(), path.c_str());
      QCOMPARE(text.substr(range->begin, range->end - range->begin), writeCanonical(part));
      QCOMPARE(nodeAt(*read.query, path), &part);
    });
    QCOMPARE(read.sources.size(), nodes);
    const std::vector<ChildRef> children = childrenOf(node);
    QVERIFY(children.size() >= arityOf(node).least);
    QVERIFY(children.size() <= arityOf(node).most);
  }
}

void TestOperators::isTakenApartAndPutTogether_data() {
  keys();
}

void TestOperators::isTakenApartAndPutTogether() {
  QFETCH(const QString, key);
  std::mt19937 random = generator();
  for (int round = 0; round < kRounds; ++round) {
    Node node = randomNode(random, key.toStdString());
    std::vector<Node> children;
    for (const ChildRef& child : childrenOf(node)) children.push_back(*child.node);
    const Node alone = withoutChildren(node);
    QVERIFY(withChildren(alone, children) == node);
    for (const ChildRef& child : childrenOf(alone)) QVERIFY(*child.node == Node{});

    // What is put in the place of a child is there.
    const Node put{Message{Role::User, "put"}};
    forEachChild(node, [&](Node& child, const std::string& /*step*/) { child = put; });
    QVERIFY(node == withChildren(alone, std::vector<Node>(children.size(), put)));
  }
}

void TestOperators::partsAreWhatTheFieldsSay_data() {
  keys();
}

void TestOperators::partsAreWhatTheFieldsSay() {
  QFETCH(const QString, key);
  std::mt19937 random = generator();
  const Node node = randomNode(random, key.toStdString());
  const OperatorShape& shape = shapeOf(node.value.index());
  QCOMPARE(shape.hasText, textOf(node) != nullptr);
  QCOMPARE(shape.answers, settingsOf(node) != nullptr);
  QCOMPARE(shape.hasCount, countOf(node) != nullptr);
  QCOMPARE(shape.hasInputs, inputsOf(node) != nullptr);
  // An operator that answers has an answer text; an operator that is built from its children has nothing
  // else.
  QCOMPARE(mostAnswers(node) > 0, infoOf(node).gives == Gives::Answer);
  if (infoOf(node).gives == Gives::Text) QVERIFY(shape.hasText);
  if (isSugar(node)) QVERIFY(shape.hasText && *infoOf(node).noun != '\0');
  if (infoOf(node).resolvedBy == ResolvedBy::Retrieval) {
    QVERIFY(documentOf(node) != nullptr && embeddingModelOf(node) != nullptr);
  }
  if (isSugar(node) || infoOf(node).resolvedBy == ResolvedBy::Retrieval) {
    QVERIFY(*infoOf(node).unplannedAs != '\0' && *infoOf(node).plannedAs != '\0');
  }
}

void TestOperators::containersAreThoseOfJson_data() {
  keys();
}

void TestOperators::containersAreThoseOfJson() {
  QFETCH(const QString, key);
  std::mt19937 random = generator();
  const auto depthOf = [](const std::string& json) {
    int depth = 0;
    int most = 0;
    bool isText = false;
    for (std::size_t i = 0; i < json.size(); ++i) {
      if (json[i] == '"' && (i == 0 || json[i - 1] != '\\')) isText = !isText;
      if (isText) continue;
      if (json[i] == '{' || json[i] == '[') most = std::max(most, ++depth);
      if (json[i] == '}' || json[i] == ']') --depth;
    }
    return static_cast<std::size_t>(most);
  };
  for (int round = 0; round < kRounds; ++round) {
    Node node = randomNode(random, key.toStdString());
    const Containers containers = containersOf(node);
    const std::size_t children = childrenOf(node).size();
    const Node leaf{Message{Role::User, "x"}};
    const Node withLeaves = withChildren(withoutChildren(node), std::vector<Node>(children, leaf));
    const std::size_t below = children > 0 ? containers.aroundChild + 1 : 0;
    QCOMPARE(depthOf(writeCanonical(withLeaves)), std::max(containers.own, below));
  }
}

SPANSCOPE_TEST(tst_operators, TestOperators)
#include "tst_operators.moc"
