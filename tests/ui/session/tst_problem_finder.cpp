// SPDX-License-Identifier: GPL-3.0-or-later
// What is wrong with the model of a document, and when that matters.
#include "engine/workbench/document/edits.h"
#include "tests/support/test_program.h"
#include "ui/document/document_file.h"
#include "ui/session/problem_finder.h"

#include <QObject>
#include <QString>
#include <QTest>

using namespace spanscope;
using namespace spanscope::ui;

class TestProblemFinder : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// A model that is not here refuses what the embedded engine answers, and nothing that servers do.
  void aModelThatIsNotHere() {
    document::OpenedDocument opened = document::readDocument(
        R"({"g": {"model": "spnl/spanlet", "max_tokens": 4, "input": {"user": "Name a town."}}})");
    document::Document document = std::move(*opened.document);
    document.settings.model = "/nowhere/at/all";
    ProblemFinder finder;
    const auto refusal = [&] {
      return refusalOf(finder.find(document, nullptr, nullptr, nullptr, QString()));
    };
    QVERIFY2(refusal().contains(QStringLiteral("cannot be opened")), qPrintable(refusal()));
    document.settings.server = "gpu-3";
    QCOMPARE(refusal(), QString());
    document::setServer(document, document.root(), document::kEmbedded);
    QVERIFY2(refusal().contains(QStringLiteral("cannot be opened")), qPrintable(refusal()));
  }
};

SPANSCOPE_TEST(tst_problem_finder, TestProblemFinder)
#include "tst_problem_finder.moc"
