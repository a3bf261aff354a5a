// SPDX-License-Identifier: GPL-3.0-or-later
// Ten thousand random queries go through every form and come back unchanged, and what a form of the reference
// cannot say is warned of.
#include "engine/query/json/json.h"
#include "engine/query/lisp/lisp.h"
#include "engine/query/yaml/yaml.h"
#include "tests/engine/query/random_query.h"
#include "tests/support/test_program.h"

#include <QObject>
#include <QRegularExpression>
#include <QString>
#include <QStringLiteral>
#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

using namespace spanscope::query;

namespace {

constexpr int kQueries = 10'000;

/// Texts of a JSON document that the reference's YAML takes for something else: its rules, stated a second
/// time.
int countMisread(const nlohmann::json& value) {
  static const QRegularExpression kOther(QStringLiteral(
      "\\A\\|(~|null|Null|NULL|[tT]rue|TRUE|[fF]alse|FALSE|[-+]?\\.(inf|Inf|INF)|\\.(nan|NaN|NAN)|"
      "0x[0-9a-fA-F]+|0o[0-7]+|[-+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?)\\z"));
  // The bar keeps Qt from dropping a byte order mark.
  if (value.is_string()) {
    return kOther.match(QString::fromStdString("|" + value.get<std::string>())).hasMatch() ? 1 : 0;
  }
  int count = 0;
  if (value.is_structured()) {
    for (const nlohmann::json& element : value) count += countMisread(element);
  }
  return count;
}

}  // namespace

class TestQueryForms : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void randomQueriesSurvive();
};

void TestQueryForms::randomQueriesSurvive() {
  std::mt19937 random(spanscope::query::testing::testSeed(20261123));
  int misread = 0;
  for (int i = 0; i < kQueries; ++i) {
    const Node node = spanscope::query::testing::randomQuery(random, 5);
    const std::string json = writePretty(node);
    QVERIFY2(parseJson(json).query == node, json.c_str());
    // Canonical JSON and Lisp write the defaults out.
    const auto complete = parseJson(writeCanonical(node)).query;
    QVERIFY2(complete.has_value(), json.c_str());
    const std::string yaml = writeYaml(node);
    QVERIFY2(parseYaml(yaml).query == node, yaml.c_str());
    const std::string lisp = writeLisp(node);
    QVERIFY2(parseLisp(lisp).query == complete, lisp.c_str());

    const auto remarks = yamlRemarks(node);
    const auto texts = std::count_if(remarks.begin(), remarks.end(), [](const Diagnostic& remark) {
      return remark.found.starts_with("the text");
    });
    const int expected = countMisread(nlohmann::json::parse(json));
    QVERIFY2(texts == expected, json.c_str());
    misread += expected;
  }
  QVERIFY(misread > 100);
}

SPANSCOPE_TEST(tst_query_forms, TestQueryForms)
#include "tst_query_forms.moc"
