// SPDX-License-Identifier: GPL-3.0-or-later
// `spanq model probe`: the card as JSON, as a table and as a picture, and the user's documents.
#include "tests/app/cli/spanq_process.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

using namespace spanscope::test;
using Json = nlohmann::ordered_json;

namespace {

void writeText(const QString& path, const QByteArray& text) {
  QFile file(path);
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(text);
}

}  // namespace

class TestSpanqProbe : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theCardIsJsonAndAPicture() {
    QTemporaryDir folder;
    const QString notes = folder.filePath(QStringLiteral("notes.txt"));
    const QString more = folder.filePath(QStringLiteral("more.md"));
    const QString picture = folder.filePath(QStringLiteral("probe.svg"));
    writeText(notes, "The lamp is green.\n");
    writeText(more, "# Cats\n\nBiscuit is a cat.\n");
    const SpanqResult result =
        spanq({"model", "probe", "--json", "--policies", "link(all),prefix", "--documents",
               notes.toStdString(), more.toStdString(), "--picture", picture.toStdString()});
    QVERIFY2(result.code == 0, result.err.c_str());
    const Json card = Json::parse(result.out);
    QCOMPARE(card["recommended_policy"].get<std::string>(), std::string("link(all)"));
    QVERIFY(!card.contains("verdict") && !card.contains("bundled_model"));
    QCOMPARE(card["policies"].size(), std::size_t{2});
    for (const Json& row : card["policies"]) {
      QVERIFY(row["questions"].get<int>() >= 10);
      QVERIFY(row["divergence_nats"]["most_of_one_token"].get<double>() < 1e-9);
      QCOMPARE(row["agreeing_tokens"], row["tokens"]);
    }
    QCOMPARE(card["own_documents"][0]["questions"].get<int>(), 2);
    QVERIFY(card["questions"].back()["own_documents"].get<bool>());
    QFile drawn(picture);
    QVERIFY(drawn.open(QIODevice::ReadOnly));
    QVERIFY(drawn.readAll().startsWith("<svg"));
  }

  void wrongInputIsNamed() {
    const SpanqResult policy = spanq({"model", "probe", "--policies", "spans,nonsense"});
    QVERIFY(policy.code != 0 && policy.err.find("nonsense") != std::string::npos);
    const SpanqResult file = spanq({"model", "probe", "--documents", "/nowhere.txt"});
    QVERIFY(file.code != 0 && file.err.find("/nowhere.txt") != std::string::npos);
  }
};

SPANSCOPE_TEST(tst_spanq_probe, TestSpanqProbe)
#include "tst_spanq_probe.moc"
