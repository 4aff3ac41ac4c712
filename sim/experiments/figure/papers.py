"""Papers whose figures come with wormcast."""

from dataclasses import dataclass

from wormcast.algorithms import WormcastError

__all__ = ["PAPERS", "Paper", "find_papers"]


@dataclass(frozen=True)
class Paper:
    """Paper whose figures come with wormcast.

    Parameters
    ----------
    number : str
        First part of the names of its figures.
    key : str
        Key of the paper in docs/references.md.
    authors, title : str
    year : int or None
        None: the paper names no year.
    """

    number: str
    key: str
    authors: str
    year: int | None
    title: str

    def __str__(self) -> str:
        year = "" if self.year is None else f" {self.year}"
        return f"{self.number} [{self.key}]: {self.authors}{year}, {self.title}"


PAPERS = (
    Paper("000", "Varavithya", "V. Varavithya and P. Mohapatra", 1997,
          "Tree-Based Multicasting on Wormhole Routed Multistage Interconnection Networks"),
    Paper("001", "Sivaram98", "R. Sivaram, R. Kesavan, D. K. Panda and C. B. Stunkel", 1998,
          "Architectural Support for Efficient Multicasting in Irregular Networks"),
    Paper("002", "Boppana98", "R. V. Boppana, S. Chalasani and C. S. Raghavendra", 1998,
          "Resource Deadlocks and Performance of Wormhole Multicast Routing Algorithms"),
    Paper("003", "Amnah", "E.-O. Amnah and W.-L. Zuo", None,
          "Hamiltonian Models for Designing Multicasting in All-Ported 3-D Wormhole-Routing Meshes"),
    Paper("004", "Hou", "Y. Hou, C.-M. Wang and L.-H. Hsu", 1998,
          "Depth Contention-Free Broadcasting on Torus Networks"),
)


def find_papers(text: str | None) -> list[Paper]:
    """Return the papers with this number, or with this text in their key, authors or title; without text all papers."""
    if text is None:
        return [*PAPERS]
    wanted = text.casefold()
    found = [paper for paper in PAPERS if paper.number == text] or [
        paper for paper in PAPERS
        if wanted and wanted in f"{paper.key} {paper.authors} {paper.title}".casefold()]
    if not found:
        raise WormcastError(f"paper: {text!r} is unknown. Allowed: a part of an author's name or of a title, or a "
                            f"number: {', '.join(paper.number for paper in PAPERS)}.")
    return found
