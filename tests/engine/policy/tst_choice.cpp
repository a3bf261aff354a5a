// SPDX-License-Identifier: GPL-3.0-or-later
// How a policy with its values is written and read.
#include "engine/policy/policies.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <limits>
#include <stdexcept>
#include <string>

using namespace spanscope;
using policy::Choice;
using spanscope::product_text::worded;

namespace {

std::string expectedOf(const std::string& text) {
  const auto read = policy::readChoice(text);
  const auto* problem = std::get_if<policy::ChoiceProblem>(&read);
  return problem == nullptr ? std::string("nothing wrong") : problem->expected;
}

}  // namespace

class TestChoice : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void isReadAndWritten_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("name");
    QTest::newRow("without values") << "spans"
                                    << "spans";
    QTest::newRow("standard value") << "link"
                                    << "link(16)";
    QTest::newRow("a value") << "link(64)"
                             << "link(64)";
    QTest::newRow("none") << "link(0)"
                          << "link(0)";
    QTest::newRow("everything") << "link(all)"
                                << "link(all)";
    QTest::newRow("by name") << "link(n=5)"
                             << "link(5)";
    QTest::newRow("blanks") << " link( 7 ) "
                            << "link(7)";
    QTest::newRow("leading zero") << "link(010)"
                                  << "";
    QTest::newRow("leading zeros, by name") << "link(n=007)"
                                            << "";
    QTest::newRow("zero before a point") << "blend(0.5)"
                                         << "blend(0.5)";
    QTest::newRow("no such policy") << "fast"
                                    << "";
    QTest::newRow("nothing") << ""
                             << "";
    QTest::newRow("empty brackets") << "link()"
                                    << "";
    QTest::newRow("open bracket") << "link(16"
                                  << "";
    QTest::newRow("something behind") << "link(16)x"
                                      << "";
    QTest::newRow("no number") << "link(few)"
                               << "";
    QTest::newRow("not whole") << "link(1.5)"
                               << "";
    QTest::newRow("negative") << "link(-1)"
                              << "";
    QTest::newRow("too large") << "link(1000001)"
                               << "";
    QTest::newRow("two values") << "link(1,2)"
                                << "";
    QTest::newRow("twice") << "link(1,n=2)"
                           << "";
    QTest::newRow("no such name") << "link(m=2)"
                                  << "";
    QTest::newRow("comma at the end") << "link(1,)"
                                      << "";
    QTest::newRow("a value too many") << "spans(1)"
                                      << "";
    QTest::newRow("not a number") << "link(nan)"
                                  << "";
    QTest::newRow("infinity") << "link(inf)"
                              << "";
  }
  void isReadAndWritten() {
    QFETCH(QString, text);
    QFETCH(QString, name);
    const auto choice = policy::findChoice(text.toStdString());
    QCOMPARE(choice ? QString::fromStdString(choice->name()) : QString(), name);
    if (choice) QCOMPARE(policy::findChoice(choice->name()), choice);
  }

  void everyPolicyIsWrittenWithItsStandard() {
    for (const policy::Policy* policy : policy::policies()) {
      const Choice choice(*policy);
      QCOMPARE(policy::findChoice(policy->name), choice);
      QCOMPARE(policy::findChoice(choice.name()), choice);
    }
  }

  void whatIsWrongSaysWhatWasExpected() {
    QCOMPARE(
        expectedOf("link(x)"),
        worded(std::string("link(n): <tokens-each-document>, <whole-number-choice> 0 to 1000000, or all")));
    QCOMPARE(expectedOf("link(010)"),
             worded(std::string("link(n): <tokens-each-document>, <whole-number-choice> 0 to 1000000, or "
                                "all<without-leading-zero>")));
    QCOMPARE(expectedOf("spans(3)"), worded(std::string("spans<no-values>")));
    const std::string names = expectedOf("best");
    QVERIFY2(names.starts_with("spans, prefix, "), names.c_str());
  }

  void valuesDecideWhatItIsExactAgainst() {
    QCOMPARE(std::string(policy::findChoice("link(16)")->exactness()), std::string("full prefill ≈"));
    QCOMPARE(std::string(policy::findChoice("link(all)")->exactness()), std::string("full prefill ✓"));
    QCOMPARE(policy::exactnessOn(*policy::findChoice("link(all)"), false), std::string("full prefill ≈"));
  }

  void valuesOutOfRangeAreMisuse() {
    const policy::Policy& link = *policy::findPolicy("link");
    QVERIFY_EXCEPTION_THROWN(Choice(link, {}), std::logic_error);
    QVERIFY_EXCEPTION_THROWN(Choice(link, {-1.0}), std::logic_error);
    QVERIFY_EXCEPTION_THROWN(Choice(link, {std::numeric_limits<double>::quiet_NaN()}), std::logic_error);
  }
};

SPANSCOPE_TEST(tst_choice, TestChoice)
#include "tst_choice.moc"
