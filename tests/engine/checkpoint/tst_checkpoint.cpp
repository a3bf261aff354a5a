// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/checkpoint/checkpoint.h"
#include "tests/engine/text/text_test_support.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

using namespace spanscope;
using namespace spanscope::checkpoint;
using spanscope::product_text::worded;
using spanscope::text::test::writeFile;

namespace {

std::optional<Error> errorOf(const Checkpoint& checkpoint) {
  try {
    checkpoint.requireModel();
  } catch (const Failure& failure) {
    return failure.error();
  }
  return std::nullopt;
}

}  // namespace

class TestCheckpoint : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void names_data();
  void names();
  void whichFileSaysWhat_data();
  void whichFileSaysWhat();
  void whatIsNoModel();
  void everyFile();
};

void TestCheckpoint::names_data() {
  QTest::addColumn<QString>("path");
  QTest::addColumn<QString>("name");
  QTest::newRow("a directory") << "/models/spanlet"
                               << "spanlet";
  QTest::newRow("with a slash") << "/models/spanlet/"
                                << "spanlet";
  QTest::newRow("with a dot") << "/models/Qwen2.5"
                              << "Qwen2.5";
  QTest::newRow("a file") << "/models/SmolLM2.Q4_1.gguf"
                          << "SmolLM2.Q4_1";
  QTest::newRow("Hugging Face's cache") << "/hub/models--Qwen--Qwen3-0.6B/snapshots/0123abcd/"
                                        << "Qwen3-0.6B";
  QTest::newRow("other snapshots") << "/hub/snapshots/0123abcd"
                                   << "0123abcd";
  QTest::newRow("a blob") << "/blobs/sha256-0123456789abcdef"
                          << "sha256-01234567";
  QTest::newRow("nothing") << ""
                           << "";
}

void TestCheckpoint::names() {
  QFETCH(QString, path);
  QFETCH(QString, name);
  QCOMPARE(QString::fromStdString(Checkpoint(path.toStdString()).name()), name);
}

void TestCheckpoint::whichFileSaysWhat_data() {
  QTest::addColumn<QStringList>("files");
  QTest::addColumn<bool>("isModel");
  QTest::addColumn<QString>("weights");     // the GGUF file; empty: none
  QTest::addColumn<QString>("vocabulary");  // the same
  QTest::newRow("safetensors") << QStringList{"config.json", "model.safetensors"} << true << ""
                               << "";
  QTest::newRow("shards") << QStringList{"config.json", "model.safetensors.index.json"} << true << ""
                          << "";
  QTest::newRow("safetensors and GGUF")
      << QStringList{"config.json", "model.safetensors", "a.gguf"} << true << ""
      << "a.gguf";
  QTest::newRow("GGUF") << QStringList{"a.gguf"} << true << "a.gguf"
                        << "a.gguf";
  QTest::newRow("GGUF with another's configuration")
      << QStringList{"config.json", "a.gguf"} << true << "a.gguf"
      << "a.gguf";
  QTest::newRow("parts") << QStringList{"a-00001-of-00002.gguf", "a-00002-of-00002.gguf"} << true
                         << "a-00001-of-00002.gguf"
                         << "a-00001-of-00002.gguf";
  QTest::newRow("a configuration alone") << QStringList{"config.json"} << true << ""
                                         << "";
  QTest::newRow("nothing") << QStringList{} << false << ""
                           << "";
}

void TestCheckpoint::whichFileSaysWhat() {
  QFETCH(QStringList, files);
  QFETCH(bool, isModel);
  QFETCH(QString, weights);
  QFETCH(QString, vocabulary);
  const QTemporaryDir folder;
  const std::filesystem::path directory = folder.path().toStdString();
  for (const QString& file : files) writeFile(directory / file.toStdString(), "GGUF");
  const auto fileName = [](const std::optional<std::filesystem::path>& path) {
    return path ? QString::fromStdString(path->filename().string()) : QString();
  };
  const Checkpoint checkpoint(directory);
  checkpoint.require();
  QCOMPARE(checkpoint.holdsModel(), isModel);
  QCOMPARE(fileName(checkpoint.gguf()), weights);
  QCOMPARE(fileName(checkpoint.anyGguf()), vocabulary);
  if (files.size() != 1 || weights.isEmpty()) return;
  const Checkpoint file(directory / weights.toStdString());
  QVERIFY(file.holdsModel());
  QCOMPARE(fileName(file.gguf()), weights);
  QVERIFY(!(file == checkpoint));
}

void TestCheckpoint::whatIsNoModel() {
  const QTemporaryDir folder;
  const std::filesystem::path directory = folder.path().toStdString();
  QCOMPARE(errorOf(directory / "nowhere")->found, worded(std::string("<nothing-at-path>")));
  writeFile(directory / "text.txt", "text");
  QCOMPARE(errorOf(directory / "text.txt")->found, worded(std::string("<file-another-kind>")));
  QCOMPARE(errorOf(directory)->found, worded(std::string("<directory-without-model>")));
  writeFile(directory / "a.gguf", "GGUF");
  QVERIFY(!errorOf(directory));
  writeFile(directory / "b.gguf", "GGUF");
  QCOMPARE(errorOf(directory)->found, std::string("a.gguf and b.gguf"));
  QVERIFY(!Checkpoint(directory).holdsModel());
  QVERIFY(Checkpoint().isNothing());
}

void TestCheckpoint::everyFile() {
  const QTemporaryDir folder;
  const std::filesystem::path directory = folder.path().toStdString();
  for (const char* name :
       {"config.json", "b.safetensors", "a.safetensors", "notes.txt", "chat_template.jinja"})
    writeFile(directory / name, "x");
  QStringList names;
  for (const std::filesystem::path& file : Checkpoint(directory).files())
    names << QString::fromStdString(file.filename().string());
  const QStringList expected{"a.safetensors", "b.safetensors", "chat_template.jinja", "config.json"};
  QCOMPARE(names, expected);
  QCOMPARE(Checkpoint(directory / "config.json").files().size(), std::size_t{1});
}

SPANSCOPE_TEST(tst_checkpoint, TestCheckpoint)
#include "tst_checkpoint.moc"
