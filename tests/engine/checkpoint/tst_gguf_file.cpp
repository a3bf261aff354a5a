// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/checkpoint/gguf/gguf_file.h"
#include "tests/engine/checkpoint/gguf_writer.h"
#include "tests/support/random_values.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <cstring>
#include <functional>
#include <optional>

using namespace spanscope;
using namespace spanscope::checkpoint;
using text::test::GgufWriter;

namespace {

constexpr std::uint32_t kF32 = 0;
constexpr std::uint32_t kQ8 = 8;

std::span<const std::byte> viewOf(const std::string& bytes) {
  return std::as_bytes(std::span(bytes));
}

/// A matrix of 2 × 32 in Q8_0, a vector of 3, and a tensor of a type that nobody knows.
GgufWriter smallFile() {
  GgufWriter file;
  file.text("general.architecture", "llama");
  file.tensor("a.weight", {32, 2}, kQ8, std::string(68, '\1'));
  file.tensor("b.weight", {3}, kF32, std::string(12, '\0'));
  file.tensorAt("c.weight", {7}, 99, 128);
  return file;
}

std::optional<Error> faultOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const Failure& failure) {
    return failure.error();
  }
  return std::nullopt;
}

void writeFile(const QString& path, const std::string& bytes) {
  QFile file(path);
  QVERIFY(file.open(QIODevice::WriteOnly));
  QCOMPARE(file.write(bytes.data(), static_cast<qint64>(bytes.size())), static_cast<qint64>(bytes.size()));
}

}  // namespace

class TestGgufFile : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void tensorsAreWhereTheHeaderSays() {
    const std::string bytes = smallFile().bytes();
    const GgufContents contents = parseGguf(viewOf(bytes), "model.gguf");
    QCOMPARE(*contents.metadata.text("general.architecture"), std::string("llama"));
    QCOMPARE(contents.tensors.size(), std::size_t(3));
    const GgufTensor& matrix = contents.tensors.at("a.weight");
    QVERIFY(matrix.format->format == compute::WeightFormat::Q8_0);
    QVERIFY((matrix.shape == std::vector<std::uint64_t>{32, 2}));
    QCOMPARE(matrix.elements(), 64);
    QCOMPARE(matrix.data.size(), std::size_t(68));
    QVERIFY(matrix.data.data() + 96 == contents.tensors.at("b.weight").data.data());
    const GgufTensor& unknown = contents.tensors.at("c.weight");
    QVERIFY(unknown.format == nullptr && unknown.data.empty());
    QCOMPARE(unknown.typeName(), std::string("type 99"));
    QCOMPARE(matrix.typeName(), std::string("Q8_0"));
  }

  void namesWhatIsWrong_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("place");
    QTest::addColumn<QString>("found");
    const auto row = [](const char* name, const std::function<void(GgufWriter&)>& change, const char* place,
                        const char* found) {
      GgufWriter file = smallFile();
      change(file);
      QTest::newRow(name) << QByteArray::fromStdString(file.bytes()) << QString(place) << QString(found);
    };
    row(
        "twice", [](GgufWriter& f) { f.tensorAt("a.weight", {1}, 99, 96); }, "a.weight", "second tensor");
    row(
        "overlap", [](GgufWriter& f) { f.tensorAt("d", {1}, kF32, 64); }, "d", "\"a.weight\"");
    row(
        "beyond the file", [](GgufWriter& f) { f.tensorAt("d", {32}, kF32, 96); }, "d", "byte 224");
    row(
        "far beyond", [](GgufWriter& f) { f.tensorAt("d", {1}, kF32, ~std::uint64_t{31}); }, "d", "byte");
    row(
        "not aligned", [](GgufWriter& f) { f.tensorAt("d", {1}, kF32, 97); }, "d", "byte 97");
    row(
        "half a block", [](GgufWriter& f) { f.tensorAt("d", {33}, kQ8, 96); }, "d", "33 elements in Q8_0");
    row(
        "no sizes", [](GgufWriter& f) { f.tensorAt("d", {}, kF32, 96); }, "d", "0 sizes");
    row(
        "five sizes",
        [](GgufWriter& f) {
          f.tensorAt("d", {1, 1, 1, 1, 1}, kF32, 96);
        },
        "d", "5 sizes");
    row(
        "an empty size",
        [](GgufWriter& f) {
          f.tensorAt("d", {4, 0}, kF32, 96);
        },
        "d", "size 0");
    row(
        "too many elements",
        [](GgufWriter& f) {
          f.tensorAt("d", {1U << 31U, 1U << 31U}, kF32, 96);
        },
        "d", "2^48");
    row(
        "odd alignment", [](GgufWriter& f) { f.unsignedInteger("general.alignment", 48); },
        "general.alignment", "48");
  }
  void namesWhatIsWrong() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, place);
    QFETCH(QString, found);
    const std::string copy = bytes.toStdString();
    const std::optional<Error> error = faultOf([&] { parseGguf(viewOf(copy), "model.gguf"); });
    QVERIFY(error.has_value());
    QCOMPARE(error->file, std::string("model.gguf"));
    QVERIFY2(QString::fromStdString(error->place).startsWith(place), error->message().c_str());
    QVERIFY2(QString::fromStdString(error->found).contains(found), error->message().c_str());
  }

  /// Every beginning of a file is refused, and every changed byte is refused or gives tensors in the file.
  void damagedHeadersAreRefusedOrHarmless() {
    const std::string whole = smallFile().bytes();
    // What is missing at the very end is padding.
    for (std::size_t size = 0; size + 20 < whole.size(); ++size) {
      const std::string part = whole.substr(0, size);
      QVERIFY(faultOf([&] { parseGguf(viewOf(part), "model.gguf"); }).has_value());
    }
    testing::Random random(testing::testSeed(20261124));
    int valid = 0;
    for (int i = 0; i < 10'000; ++i) {
      std::string changed = whole;
      const auto head = static_cast<std::uint64_t>(whole.size() - 128);
      changed[random.below(head)] = static_cast<char>(random.next());
      const std::optional<Error> error = faultOf([&] {
        const GgufContents contents = parseGguf(viewOf(changed), "model.gguf");
        for (const auto& [name, tensor] : contents.tensors) {
          if (tensor.data.empty()) continue;
          QVERIFY(tensor.data.data() >= viewOf(changed).data());
          QVERIFY(tensor.data.data() + tensor.data.size() <= viewOf(changed).data() + changed.size());
        }
      });
      if (!error) ++valid;
      if (error) QVERIFY(!error->found.empty() && !error->expected.empty());
    }
    QVERIFY2(valid > 1000, qPrintable(QString::number(valid)));
  }

  void partsLieBesideTheFirst() {
    const QTemporaryDir folder;
    GgufWriter first;
    first.unsignedInteger("split.count", 2);
    first.unsignedInteger("split.no", 0);
    first.tensor("a", {1}, kF32, "1234");
    GgufWriter second;
    second.unsignedInteger("split.count", 2);
    second.unsignedInteger("split.no", 1);
    second.tensor("b", {1}, kF32, "5678");
    const QString path = folder.filePath("m-00001-of-00002.gguf");
    const QString other = folder.filePath("m-00002-of-00002.gguf");
    writeFile(path, first.bytes());
    QVERIFY(faultOf([&] { const GgufFile file(path.toStdString()); })->file == other.toStdString());
    writeFile(other, second.bytes());
    const GgufFile file(path.toStdString());
    QCOMPARE(file.tensors().size(), std::size_t(2));
    QCOMPARE(file.tensors().at("b").file, other.toStdString());
    QVERIFY(std::memcmp(file.tensors().at("b").tensor.data.data(), "5678", 4) == 0);
    const auto wrong = faultOf([&] { const GgufFile part(other.toStdString()); });
    QVERIFY(wrong && wrong->place == "split.no" && wrong->found == "part 2 of 2");
    const QString renamed = folder.filePath("m.gguf");
    writeFile(renamed, first.bytes());
    QVERIFY(faultOf([&] { const GgufFile lone(renamed.toStdString()); })->place == "split.count");
    writeFile(other, first.bytes());
    QVERIFY(faultOf([&] { const GgufFile twice(path.toStdString()); })->found.find("another part") !=
            std::string::npos);
  }
};

SPANSCOPE_TEST(tst_gguf_file, TestGgufFile)
#include "tst_gguf_file.moc"
