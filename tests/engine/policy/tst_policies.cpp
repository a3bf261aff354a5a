// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/policies.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <set>
#include <string>

using namespace spanscope;

/// What every user of the registry relies on.
class TestPolicies : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void eachIsFoundByItsName() {
    std::set<std::string> names;
    for (const policy::Policy* policy : policy::policies()) {
      QVERIFY2(names.insert(policy->name).second, policy->name);
      QCOMPARE(policy::findPolicy(policy->name), policy);
      QVERIFY2(policy->layOut != nullptr, policy->name);
      for (const char* words : {policy->brief, policy->help, policy->exactness})
        QVERIFY2(words != nullptr && *words != '\0', policy->name);
      QVERIFY2(policy->asIn != nullptr, policy->name);
    }
    QCOMPARE(policy::policyNames().size(), names.size());
    QCOMPARE(policy::findPolicy("no such policy"), nullptr);
    QCOMPARE(policy::findPolicy(""), nullptr);
  }

  void nothingIsTickedOffWhereRowsAreOnlyClose() {
    QCOMPARE(policy::exactnessOn(policy::standardPolicy(), true),
             std::string(policy::standardPolicy().exactness));
    QCOMPARE(policy::exactnessOn(*policy::findPolicy("spans"), false),
             std::string("block attention ≈ · full prefill ≈"));
    for (const policy::Policy* policy : policy::policies())
      QCOMPARE(policy::exactnessOn(*policy, false).find("✓"), std::string::npos);
  }

  void theStandardOneIsOfferedFirst() { QCOMPARE(policy::policies().front(), &policy::standardPolicy()); }

  void oneIsForAnyCheckpoint() { QVERIFY(!policy::policyForAnyCheckpoint().wantsBlockAttention); }
};

SPANSCOPE_TEST(tst_policies, TestPolicies)
#include "tst_policies.moc"
