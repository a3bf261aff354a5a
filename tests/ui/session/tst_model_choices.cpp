// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/resource_paths.h"
#include "tests/support/test_program.h"
#include "ui/session/model_choices.h"

#include <QTest>

#include <algorithm>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

std::string modelIn(const QTemporaryDir& folder, const QString& name) {
  const QString path = folder.filePath(name);
  QDir().mkpath(path);
  QFile config(path + QStringLiteral("/config.json"));
  if (!config.open(QIODevice::WriteOnly)) qFatal("no file");
  return path.toStdString();
}

QStringList namesOf(const std::vector<ModelChoice>& choices) {
  QStringList names;
  for (const ModelChoice& choice : choices)
    names += QStringLiteral("%1 %2%3")
                 .arg(static_cast<int>(choice.origin))
                 .arg(choice.name)
                 .arg(choice.isCurrent ? QStringLiteral(" *") : QString());
  return names;
}

}  // namespace

class TestModelChoices : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void eachOnceInOrder() {
    const QTemporaryDir folder;
    const std::string loaded = modelIn(folder, QStringLiteral("loaded"));
    const std::string recent = modelIn(folder, QStringLiteral("recent"));
    const std::string chosen = folder.filePath(QStringLiteral("gone")).toStdString();
    const std::string bundled = workbench::bundledModelDirectory().string();
    ModelsKnown known{
        .loaded = loaded, .fittingAdapter = {}, .recent = {recent, loaded, bundled, chosen + "-too"}};
    std::vector<ModelChoice> choices = modelChoices(known, chosen);
    const QStringList expected{QStringLiteral("0 loaded"), QStringLiteral("1 gone *"),
                               QStringLiteral("2 recent"), QStringLiteral("3 spanlet")};
    QCOMPARE(namesOf(choices).mid(0, 4), expected);
    const auto spanlet = std::find_if(choices.begin(), choices.end(),
                                      [](const ModelChoice& choice) { return choice.value.isEmpty(); });
    QVERIFY(spanlet != choices.end());
    QCOMPARE(spanlet->directory.toStdString(), bundled);

    known.loaded = bundled;
    choices = modelChoices(known, {});
    QCOMPARE(namesOf(choices).front(), QStringLiteral("0 spanlet *"));
    QVERIFY(choices.front().value.isEmpty());
  }

  /// The usual policy goes with the model and its adapter; a policy that the user chose stays.
  void thePolicyGoesWithTheModel() {
    const QString untrained = QStringLiteral(SPANSCOPE_SOURCE_DIR "/tests/engine/model/data/bf16_gqa_tied");
    const std::string adapter = (untrained + QStringLiteral("/adapter")).toStdString();
    const auto policyOf = [](const DocumentModel& model) { return model.document().settings.policy; };
    DocumentModel model{document::Document()};
    QCOMPARE(policyOf(model), std::string("spans"));
    chooseModel(model, untrained);
    QCOMPARE(policyOf(model), std::string("prefix"));
    chooseAdapter(model, adapter);
    QCOMPARE(policyOf(model), std::string("spans"));
    chooseAdapter(model, {});
    QCOMPARE(policyOf(model), std::string("prefix"));
    chooseModel(model, QString());
    QCOMPARE(policyOf(model), std::string("spans"));
    model.settingsUndoStack().undo();
    QCOMPARE(policyOf(model), std::string("prefix"));

    document::Document own;
    own.settings.policy = "link(16)";
    DocumentModel chosen(own);
    chooseModel(chosen, untrained);
    chooseAdapter(chosen, adapter);
    QCOMPARE(policyOf(chosen), std::string("link(16)"));
  }

  void changesOfThePolicyAreReported() {
    const QString untrained = QStringLiteral(SPANSCOPE_SOURCE_DIR "/tests/engine/model/data/bf16_gqa_tied");
    constexpr std::uint32_t kTab = 3;
    DocumentModel model{document::Document()};
    PolicyChanges changes;
    const auto follow = [&] { changes.follow(kTab, model.document().settings); };
    follow();
    QVERIFY(changes.of(kTab) == nullptr);
    chooseModel(model, untrained);
    follow();
    follow();
    QVERIFY(changes.of(kTab) != nullptr);
    QCOMPARE(*changes.of(kTab), (PolicyChange{.from = "spans", .to = "prefix", .model = "bf16_gqa_tied"}));
    QVERIFY(changes.of(kTab + 1) == nullptr);
    model.settingsUndoStack().undo();
    follow();
    QVERIFY(changes.of(kTab) == nullptr);
    model.settingsUndoStack().redo();
    follow();
    QVERIFY(changes.of(kTab) != nullptr);
    changes.dismiss(kTab);
    follow();
    QVERIFY(changes.of(kTab) == nullptr);
    // The user's own change of the policy is no report.
    model.change(QStringLiteral("policy"),
                 [](document::Document& document) { document.settings.policy = "blend"; });
    follow();
    QVERIFY(changes.of(kTab) == nullptr);
  }

  void choosingForgetsWhatTheOtherStoodFor() {
    document::Document document;
    document.settings.standsFor = "gpt";
    DocumentModel model(document);
    chooseModel(model, QString());
    QCOMPARE(model.document().settings.standsFor, std::string("gpt"));
    chooseModel(model, QStringLiteral("/models/a"));
    QCOMPARE(model.document().settings.model, std::string("/models/a"));
    QVERIFY(model.document().settings.standsFor.empty());
    model.settingsUndoStack().undo();
    QVERIFY(model.document() == document);
  }
};

SPANSCOPE_TEST(tst_model_choices, TestModelChoices, QCoreApplication)
#include "tst_model_choices.moc"
