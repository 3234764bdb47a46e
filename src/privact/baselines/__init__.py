"""whole graph -> the trees and graphs that the method is judged against."""
